// What NVRTC has built in and clang has not: the words of CUDA C, its vector types, and its device functions.
//
// clang includes this file before the learner's. It is for device code alone: there is no host side, and nothing of NVIDIA's is needed.
// Functions are clang's builtins where there is one, and plain CUDA C otherwise. PTX is written out only for what neither can say:
// loads and stores with a cache hint, and the dot products of bytes. `nodebug` gives what is inlined to the line of the call.
//
// What is missing here is missing on purpose: most of the math library is NVIDIA's own code, and a name that is refused with a reason
// (see the end) is better than one with other results.
#pragma once

// ---- Words of the language ----

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared, annotate("")))
#define __constant__ __attribute__((constant))
#define __forceinline__ __inline__ __attribute__((always_inline))
// From clang 20 on. Before, a parameter whose address is taken may be a copy, which TMA refuses.
#if __has_attribute(grid_constant)
#define __grid_constant__ __attribute__((grid_constant))
#else
#define __grid_constant__
#endif
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_align__(bytes) __attribute__((aligned(bytes)))
#define __CUDACC_RTC__ 1
#define __CUDACC__ 1

// How every function below begins.
#define FN static __inline__ __device__ __attribute__((always_inline, nodebug))

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef long clock_t;

// ---- Vector types ----

// `alignment` is that of the whole: 16 bytes at most, and the element's own for three elements.
#define VECTORS(type, name, two, four) \
    struct name##1 { type x; }; \
    struct __align__(two) name##2 { type x, y; }; \
    struct name##3 { type x, y, z; }; \
    struct __align__(four) name##4 { type x, y, z, w; }; \
    FN name##1 make_##name##1(type x) { return {x}; } \
    FN name##2 make_##name##2(type x, type y) { return {x, y}; } \
    FN name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
    FN name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }

VECTORS(signed char, char, 2, 4)
VECTORS(unsigned char, uchar, 2, 4)
VECTORS(short, short, 4, 8)
VECTORS(unsigned short, ushort, 4, 8)
VECTORS(int, int, 8, 16)
VECTORS(unsigned, uint, 8, 16)
VECTORS(long, long, 16, 16)
VECTORS(unsigned long, ulong, 16, 16)
VECTORS(long long, longlong, 16, 16)
VECTORS(unsigned long long, ulonglong, 16, 16)
VECTORS(float, float, 8, 16)
VECTORS(double, double, 16, 16)
#undef VECTORS

struct dim3 {
    unsigned x, y, z;
    __device__ __attribute__((nodebug)) constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    __device__ __attribute__((nodebug)) constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __device__ __attribute__((nodebug)) constexpr operator uint3() const { return {x, y, z}; }
};

// ---- The thread's place ----

// Reading `threadIdx.x` calls a builtin. The objects themselves are never read, so they need not exist.
#define PLACE(object, type, sreg) \
    struct object##_t { \
        __declspec(property(get = get_x)) unsigned x; \
        __declspec(property(get = get_y)) unsigned y; \
        __declspec(property(get = get_z)) unsigned z; \
        FN unsigned get_x() { return __nvvm_read_ptx_sreg_##sreg##_x(); } \
        FN unsigned get_y() { return __nvvm_read_ptx_sreg_##sreg##_y(); } \
        FN unsigned get_z() { return __nvvm_read_ptx_sreg_##sreg##_z(); } \
        __forceinline__ __device__ __attribute__((nodebug)) operator type() const { return type{get_x(), get_y(), get_z()}; } \
        object##_t() = delete; \
        object##_t(const object##_t &) = delete; \
        void operator=(const object##_t &) const = delete; \
        object##_t *operator&() const = delete; \
    }; \
    extern const __device__ __attribute__((weak)) object##_t object;

PLACE(threadIdx, uint3, tid)
PLACE(blockIdx, uint3, ctaid)
PLACE(blockDim, dim3, ntid)
PLACE(gridDim, dim3, nctaid)
#undef PLACE
static constexpr __device__ int warpSize = 32;

// ---- Bits ----

FN int __popc(unsigned x) { return __builtin_popcount(x); }
FN int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
FN int __clz(int x) { return x == 0 ? 32 : __builtin_clz(x); }
FN int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(x); }
FN int __ffs(int x) { return __builtin_ffs(x); }
FN int __ffsll(long long x) { return __builtin_ffsll(x); }
FN unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
FN unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
FN unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) { return __nvvm_prmt(x, y, selector & 0x7777); }
FN unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by)
{
    by &= 31;
    return by == 0 ? high : high << by | low >> (32 - by);
}
FN unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by)
{
    by &= 31;
    return by == 0 ? low : low >> by | high << (32 - by);
}
FN unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned by) { return by >= 32 ? low : __funnelshift_l(low, high, by); }
FN unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned by) { return by >= 32 ? high : __funnelshift_r(low, high, by); }

FN float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
FN float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
FN int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
FN unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
FN double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
FN long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
FN int __double2loint(double x) { return (int)__double_as_longlong(x); }
FN int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
FN double __hiloint2double(int high, int low) { return __longlong_as_double((long long)high << 32 | (unsigned)low); }

// ---- Integers ----

FN int __mul24(int a, int b) { return __nvvm_mul24_i(a, b); }
FN unsigned __umul24(unsigned a, unsigned b) { return __nvvm_mul24_ui(a, b); }
FN int __mulhi(int a, int b) { return __nvvm_mulhi_i(a, b); }
FN unsigned __umulhi(unsigned a, unsigned b) { return __nvvm_mulhi_ui(a, b); }
FN long long __mul64hi(long long a, long long b) { return __nvvm_mulhi_ll(a, b); }
FN unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return __nvvm_mulhi_ull(a, b); }
FN unsigned __sad(int a, int b, unsigned c) { return __nvvm_sad_i(a, b, c); }
FN unsigned __usad(unsigned a, unsigned b, unsigned c) { return __nvvm_sad_ui(a, b, c); }
FN int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
FN int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
FN unsigned __uhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b) >> 1); }
FN unsigned __urhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b + 1) >> 1); }
FN int abs(int x) { return x < 0 ? -x : x; }
FN long abs(long x) { return x < 0 ? -x : x; }
FN long long abs(long long x) { return x < 0 ? -x : x; }
FN long labs(long x) { return x < 0 ? -x : x; }
FN long long llabs(long long x) { return x < 0 ? -x : x; }

#define MIN_MAX(type, a_type, b_type) \
    FN type min(a_type a, b_type b) { return (type)a < (type)b ? (type)a : (type)b; } \
    FN type max(a_type a, b_type b) { return (type)a > (type)b ? (type)a : (type)b; }
#define MIXED_MIN_MAX(size) \
    MIN_MAX(size, size, size) \
    MIN_MAX(unsigned size, unsigned size, unsigned size) \
    MIN_MAX(unsigned size, size, unsigned size) \
    MIN_MAX(unsigned size, unsigned size, size)
MIXED_MIN_MAX(int)
MIXED_MIN_MAX(long)
MIXED_MIN_MAX(long long)
#undef MIXED_MIN_MAX
#undef MIN_MAX

#if __CUDA_ARCH__ >= 610
// Sums of products: of four bytes with four bytes, and of two 16-bit numbers with two bytes.
#define DOT(function, instruction, type, types) \
    FN type function(type a, type b, type c) \
    { \
        asm(instruction "." types " %0, %1, %2, %0;" : "+r"(c) : "r"(a), "r"(b)); \
        return c; \
    }
DOT(__dp4a, "dp4a", int, "s32.s32")
DOT(__dp4a, "dp4a", unsigned, "u32.u32")
DOT(__dp2a_lo, "dp2a.lo", int, "s32.s32")
DOT(__dp2a_lo, "dp2a.lo", unsigned, "u32.u32")
DOT(__dp2a_hi, "dp2a.hi", int, "s32.s32")
DOT(__dp2a_hi, "dp2a.hi", unsigned, "u32.u32")
#undef DOT
#endif

// ---- Arithmetic of floating point ----

// With a rounding that is named, a product and a sum stay apart.
#define ROUNDED(to, mode) \
    FN float __fadd_##to(float a, float b) { return __nvvm_add_##mode##_f(a, b); } \
    FN float __fsub_##to(float a, float b) { return __nvvm_add_##mode##_f(a, -b); } \
    FN float __fmul_##to(float a, float b) { return __nvvm_mul_##mode##_f(a, b); } \
    FN float __fdiv_##to(float a, float b) { return __nvvm_div_##mode##_f(a, b); } \
    FN float __frcp_##to(float a) { return __nvvm_rcp_##mode##_f(a); } \
    FN float __fsqrt_##to(float a) { return __nvvm_sqrt_##mode##_f(a); } \
    FN float __fmaf_##to(float a, float b, float c) { return __nvvm_fma_##mode##_f(a, b, c); } \
    FN double __dadd_##to(double a, double b) { return __nvvm_add_##mode##_d(a, b); } \
    FN double __dsub_##to(double a, double b) { return __nvvm_add_##mode##_d(a, -b); } \
    FN double __dmul_##to(double a, double b) { return __nvvm_mul_##mode##_d(a, b); } \
    FN double __ddiv_##to(double a, double b) { return __nvvm_div_##mode##_d(a, b); } \
    FN double __drcp_##to(double a) { return __nvvm_rcp_##mode##_d(a); } \
    FN double __dsqrt_##to(double a) { return __nvvm_sqrt_##mode##_d(a); } \
    FN double __fma_##to(double a, double b, double c) { return __nvvm_fma_##mode##_d(a, b, c); } \
    FN int __float2int_##to(float x) { return __nvvm_f2i_##mode(x); } \
    FN unsigned __float2uint_##to(float x) { return __nvvm_f2ui_##mode(x); } \
    FN long long __float2ll_##to(float x) { return __nvvm_f2ll_##mode(x); } \
    FN unsigned long long __float2ull_##to(float x) { return __nvvm_f2ull_##mode(x); } \
    FN int __double2int_##to(double x) { return __nvvm_d2i_##mode(x); } \
    FN unsigned __double2uint_##to(double x) { return __nvvm_d2ui_##mode(x); } \
    FN long long __double2ll_##to(double x) { return __nvvm_d2ll_##mode(x); } \
    FN unsigned long long __double2ull_##to(double x) { return __nvvm_d2ull_##mode(x); } \
    FN float __double2float_##to(double x) { return __nvvm_d2f_##mode(x); }
ROUNDED(rn, rn)
ROUNDED(rz, rz)
ROUNDED(rd, rm)
ROUNDED(ru, rp)
#undef ROUNDED
#define FROM_INTEGERS(to, mode) \
    FN float __int2float_##to(int x) { return __nvvm_i2f_##mode(x); } \
    FN float __uint2float_##to(unsigned x) { return __nvvm_ui2f_##mode(x); } \
    FN float __ll2float_##to(long long x) { return __nvvm_ll2f_##mode(x); } \
    FN float __ull2float_##to(unsigned long long x) { return __nvvm_ull2f_##mode(x); } \
    FN double __ll2double_##to(long long x) { return __nvvm_ll2d_##mode(x); } \
    FN double __ull2double_##to(unsigned long long x) { return __nvvm_ull2d_##mode(x); }
FROM_INTEGERS(rn, rn)
FROM_INTEGERS(rd, rm)
FROM_INTEGERS(ru, rp)
#undef FROM_INTEGERS
// clang 18 and 19 round these builtins to nearest.
#define TOWARD_ZERO(function, type, constraint, from, from_constraint, types) \
    FN type function(from x) \
    { \
        type y; \
        asm("cvt.rz." types " %0, %1;" : "=" constraint(y) : from_constraint(x)); \
        return y; \
    }
TOWARD_ZERO(__int2float_rz, float, "f", int, "r", "f32.s32")
TOWARD_ZERO(__uint2float_rz, float, "f", unsigned, "r", "f32.u32")
TOWARD_ZERO(__ll2float_rz, float, "f", long long, "l", "f32.s64")
TOWARD_ZERO(__ull2float_rz, float, "f", unsigned long long, "l", "f32.u64")
TOWARD_ZERO(__ll2double_rz, double, "d", long long, "l", "f64.s64")
TOWARD_ZERO(__ull2double_rz, double, "d", unsigned long long, "l", "f64.u64")
#undef TOWARD_ZERO
FN double __int2double_rn(int x) { return x; }
FN double __uint2double_rn(unsigned x) { return x; }

FN float fabsf(float x) { return __builtin_fabsf(x); }
FN float fminf(float a, float b) { return __builtin_fminf(a, b); }
FN float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
FN float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
FN float sqrtf(float x) { return __nvvm_sqrt_rn_f(x); }
FN float rsqrtf(float x) { return __nvvm_rsqrt_approx_f(x); }
FN float floorf(float x) { return __builtin_floorf(x); }
FN float ceilf(float x) { return __builtin_ceilf(x); }
FN float truncf(float x) { return __builtin_truncf(x); }
FN float rintf(float x) { return __builtin_rintf(x); }
FN float nearbyintf(float x) { return __builtin_nearbyintf(x); }
FN float copysignf(float x, float sign) { return __builtin_copysignf(x, sign); }
FN float roundf(float x) { return __builtin_truncf(__nvvm_add_rz_f(x, __builtin_copysignf(0.5f, x))); }
FN float fdimf(float a, float b) { return a <= b ? 0.0f : a - b; }
FN double fabs(double x) { return __builtin_fabs(x); }
FN double fmin(double a, double b) { return __builtin_fmin(a, b); }
FN double fmax(double a, double b) { return __builtin_fmax(a, b); }
FN double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
FN double sqrt(double x) { return __nvvm_sqrt_rn_d(x); }
FN double floor(double x) { return __builtin_floor(x); }
FN double ceil(double x) { return __builtin_ceil(x); }
FN double trunc(double x) { return __builtin_trunc(x); }
FN double rint(double x) { return __builtin_rint(x); }
FN double copysign(double x, double sign) { return __builtin_copysign(x, sign); }

FN float abs(float x) { return fabsf(x); }
FN double abs(double x) { return fabs(x); }
FN float fabs(float x) { return fabsf(x); }
FN float fma(float a, float b, float c) { return fmaf(a, b, c); }
FN float sqrt(float x) { return sqrtf(x); }
FN float floor(float x) { return floorf(x); }
FN float ceil(float x) { return ceilf(x); }
FN float trunc(float x) { return truncf(x); }
FN float rint(float x) { return rintf(x); }
FN float round(float x) { return roundf(x); }
FN float min(float a, float b) { return fminf(a, b); }
FN float max(float a, float b) { return fmaxf(a, b); }
FN float fmin(float a, float b) { return fminf(a, b); }
FN float fmax(float a, float b) { return fmaxf(a, b); }
FN double min(double a, double b) { return __builtin_fmin(a, b); }
FN double max(double a, double b) { return __builtin_fmax(a, b); }
FN double min(float a, double b) { return __builtin_fmin(a, b); }
FN double max(float a, double b) { return __builtin_fmax(a, b); }
FN double min(double a, float b) { return __builtin_fmin(a, b); }
FN double max(double a, float b) { return __builtin_fmax(a, b); }
FN bool isnan(float x) { return __builtin_isnan(x); }
FN bool isnan(double x) { return __builtin_isnan(x); }
FN bool isinf(float x) { return __builtin_isinf(x); }
FN bool isinf(double x) { return __builtin_isinf(x); }
FN bool isfinite(float x) { return __builtin_isfinite(x); }
FN bool isfinite(double x) { return __builtin_isfinite(x); }
FN bool signbit(float x) { return __builtin_signbit(x); }
FN bool signbit(double x) { return __builtin_signbit(x); }

// The approximations that are one instruction, or two.
FN float __saturatef(float x) { return __nvvm_saturate_f(x); }
FN float __fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }
FN float __frsqrt_rn(float x) { return __nvvm_rsqrt_approx_f(x); }
FN float __expf(float x) { return __nvvm_ex2_approx_f(x * 1.44269504f); }
FN float __exp10f(float x) { return __nvvm_ex2_approx_f(x * 3.32192809f); }
FN float __log2f(float x) { return __nvvm_lg2_approx_f(x); }
FN float __logf(float x) { return __nvvm_lg2_approx_f(x) * 0.693147181f; }
FN float __log10f(float x) { return __nvvm_lg2_approx_f(x) * 0.301029996f; }
FN float __sinf(float x) { return __nvvm_sin_approx_f(x); }
FN float __cosf(float x) { return __nvvm_cos_approx_f(x); }
FN float __tanf(float x) { return __nvvm_div_approx_f(__sinf(x), __cosf(x)); }
FN float __powf(float x, float y) { return __nvvm_ex2_approx_f(y * __nvvm_lg2_approx_f(x)); }
FN float exp2f(float x) { return __nvvm_ex2_approx_f(x); }

// ---- The math library, where we have it ----

// Our own: in double precision, and then rounded, so they are within an ulp of the true value. NVIDIA's are faster on a GPU, and their last
// bits differ.

// The logarithm of a positive, finite number, to the base of 2: of 2^e m it is e + log2(m), with m near 1, and
// ln m = 2 atanh((m - 1) / (m + 1)).
FN double __unrolled_log2(float positive)
{
    double x = positive;
    long long bits = __double_as_longlong(x);
    const long long exponent = (bits - 0x3fe6a09e667f3bcdll) >> 52;
    const double m = __longlong_as_double(bits - (exponent << 52));
    const double s = (m - 1.0) / (m + 1.0), z = s * s;
    double sum = 1.0 / 23.0;
#pragma unroll
    for (int k = 21; k > 0; k -= 2)
        sum = __builtin_fma(sum, z, 1.0 / k);
    return __builtin_fma(sum, s * 2.8853900817779268, (double)exponent);
}

// 2^x as a float: the whole part goes to the exponent, the rest into the series of exp.
FN float __unrolled_exp2(double x)
{
    x = __builtin_fmin(__builtin_fmax(x, -200.0), 200.0);
    const double whole = __builtin_rint(x);
    const double r = (x - whole) * 0.69314718055994531;
    double sum = 1.0;
#pragma unroll
    for (int k = 13; k > 0; --k)
        sum = __builtin_fma(sum, r * (1.0 / k), 1.0);
    return (float)(sum * __longlong_as_double((1023ll + (long long)whole) << 52));
}

FN float expf(float x) { return x != x ? x : __unrolled_exp2(x * 1.4426950408889634); }
FN float exp10f(float x) { return x != x ? x : __unrolled_exp2(x * 3.3219280948873623); }
FN float __unrolled_log(float x, double factor)
{
    if (x > 0.0f && x < __builtin_inff())
        return (float)(__unrolled_log2(x) * factor);
    return x == 0.0f ? -__builtin_inff() : x < 0.0f ? __builtin_nanf("") : x;
}
FN float log2f(float x) { return __unrolled_log(x, 1.0); }
FN float logf(float x) { return __unrolled_log(x, 0.69314718055994531); }
FN float log10f(float x) { return __unrolled_log(x, 0.30102999566398120); }
FN float powf(float x, float y)
{
    if (x == 1.0f || y == 0.0f)
        return 1.0f;
    if (x != x || y != y)
        return x + y;
    const float size = __builtin_fabsf(x);
    const bool is_whole = __builtin_truncf(y) == y;
    const bool is_odd = is_whole && __builtin_truncf(y * 0.5f) * 2.0f != y;
    float power;
    if (size == 0.0f || size == __builtin_inff())
        power = (size == 0.0f) == (y < 0.0f) ? __builtin_inff() : 0.0f;
    else if (__builtin_isinf(y))
        power = size == 1.0f ? 1.0f : (size < 1.0f) == (y < 0.0f) ? __builtin_inff() : 0.0f;
    else if (x < 0.0f && !is_whole)
        return __builtin_nanf("");
    else
        power = __unrolled_exp2(y * __unrolled_log2(size));
    return x < 0.0f || (x == 0.0f && __builtin_signbit(x)) ? (is_odd ? -power : power) : power;
}
FN float exp(float x) { return expf(x); }
FN float log(float x) { return logf(x); }
FN float pow(float x, float y) { return powf(x, y); }

// ---- Warps ----

#define ALL_LANES 0xffffffffu
#if __has_builtin(__nvvm_activemask)
FN unsigned __activemask() { return __nvvm_activemask(); }
#else // clang 18
FN unsigned __activemask()
{
    unsigned mask;
    asm volatile("activemask.b32 %0;" : "=r"(mask));
    return mask;
}
#endif
FN void __syncwarp(unsigned mask = ALL_LANES) { __nvvm_bar_warp_sync(mask); }
FN int __all_sync(unsigned mask, int predicate) { return __nvvm_vote_all_sync(mask, predicate); }
FN int __any_sync(unsigned mask, int predicate) { return __nvvm_vote_any_sync(mask, predicate); }
FN int __uni_sync(unsigned mask, int predicate) { return __nvvm_vote_uni_sync(mask, predicate); }
FN unsigned __ballot_sync(unsigned mask, int predicate) { return __nvvm_vote_ballot_sync(mask, predicate); }

// A shuffle moves 32 bits; types of 64 bits move in halves.
#define SHUFFLE32(function, builtin, by, clamp, type) \
    FN type function(unsigned mask, type value, by lane, int width = 32) \
    { \
        return __builtin_bit_cast(type, builtin(mask, __builtin_bit_cast(int, value), (int)lane, (32 - width) << 8 | clamp)); \
    }
#define SHUFFLE64(function, builtin, by, clamp, type) \
    FN type function(unsigned mask, type value, by lane, int width = 32) \
    { \
        const unsigned long long bits = __builtin_bit_cast(unsigned long long, value); \
        const unsigned low = builtin(mask, (int)bits, (int)lane, (32 - width) << 8 | clamp); \
        const unsigned high = builtin(mask, (int)(bits >> 32), (int)lane, (32 - width) << 8 | clamp); \
        return __builtin_bit_cast(type, (unsigned long long)high << 32 | low); \
    }
#define SHUFFLES(function, builtin, by, clamp) \
    SHUFFLE32(function, builtin, by, clamp, int) \
    SHUFFLE32(function, builtin, by, clamp, unsigned) \
    SHUFFLE32(function, builtin, by, clamp, float) \
    SHUFFLE64(function, builtin, by, clamp, long) \
    SHUFFLE64(function, builtin, by, clamp, unsigned long) \
    SHUFFLE64(function, builtin, by, clamp, long long) \
    SHUFFLE64(function, builtin, by, clamp, unsigned long long) \
    SHUFFLE64(function, builtin, by, clamp, double)
SHUFFLES(__shfl_sync, __nvvm_shfl_sync_idx_i32, int, 31)
SHUFFLES(__shfl_up_sync, __nvvm_shfl_sync_up_i32, unsigned, 0)
SHUFFLES(__shfl_down_sync, __nvvm_shfl_sync_down_i32, unsigned, 31)
SHUFFLES(__shfl_xor_sync, __nvvm_shfl_sync_bfly_i32, int, 31)
#undef SHUFFLES
#undef SHUFFLE64
#undef SHUFFLE32

#if __CUDA_ARCH__ >= 700
#define MATCH(type, bits, size) \
    FN unsigned __match_any_sync(unsigned mask, type value) \
    { \
        return __nvvm_match_any_sync_##size(mask, __builtin_bit_cast(bits, value)); \
    } \
    FN unsigned __match_all_sync(unsigned mask, type value, int *all) \
    { \
        return __nvvm_match_all_sync_##size##p(mask, __builtin_bit_cast(bits, value), all); \
    }
MATCH(int, unsigned, i32)
MATCH(unsigned, unsigned, i32)
MATCH(float, unsigned, i32)
MATCH(long, unsigned long long, i64)
MATCH(unsigned long, unsigned long long, i64)
MATCH(long long, unsigned long long, i64)
MATCH(unsigned long long, unsigned long long, i64)
MATCH(double, unsigned long long, i64)
#undef MATCH
#if __has_builtin(__nvvm_nanosleep)
FN void __nanosleep(unsigned ns) { __nvvm_nanosleep(ns); }
#else // clang 18
FN void __nanosleep(unsigned ns) { asm volatile("nanosleep.u32 %0;" ::"r"(ns)); }
#endif
#endif

#if __CUDA_ARCH__ >= 800
FN int __reduce_add_sync(unsigned mask, int value) { return __nvvm_redux_sync_add(value, mask); }
FN unsigned __reduce_add_sync(unsigned mask, unsigned value) { return __nvvm_redux_sync_add(value, mask); }
FN int __reduce_min_sync(unsigned mask, int value) { return __nvvm_redux_sync_min(value, mask); }
FN unsigned __reduce_min_sync(unsigned mask, unsigned value) { return __nvvm_redux_sync_umin(value, mask); }
FN int __reduce_max_sync(unsigned mask, int value) { return __nvvm_redux_sync_max(value, mask); }
FN unsigned __reduce_max_sync(unsigned mask, unsigned value) { return __nvvm_redux_sync_umax(value, mask); }
FN unsigned __reduce_and_sync(unsigned mask, unsigned value) { return __nvvm_redux_sync_and(value, mask); }
FN unsigned __reduce_or_sync(unsigned mask, unsigned value) { return __nvvm_redux_sync_or(value, mask); }
FN unsigned __reduce_xor_sync(unsigned mask, unsigned value) { return __nvvm_redux_sync_xor(value, mask); }
#endif

// ---- Blocks and memory ----

// `__syncthreads()` is clang's own.
FN int __syncthreads_count(int predicate) { return __nvvm_bar0_popc(predicate); }
FN int __syncthreads_and(int predicate) { return __nvvm_bar0_and(predicate); }
FN int __syncthreads_or(int predicate) { return __nvvm_bar0_or(predicate); }
FN void __threadfence_block() { __nvvm_membar_cta(); }
FN void __threadfence() { __nvvm_membar_gl(); }
FN void __threadfence_system() { __nvvm_membar_sys(); }

#define SHARED_SPACE __attribute__((address_space(3)))
#define GLOBAL_SPACE __attribute__((address_space(1)))
#define CONSTANT_SPACE __attribute__((address_space(4)))
#define LOCAL_SPACE __attribute__((address_space(5)))
FN size_t __cvta_generic_to_shared(const void *p) { return (size_t)(const SHARED_SPACE void *)p; }
FN size_t __cvta_generic_to_global(const void *p) { return (size_t)(const GLOBAL_SPACE void *)p; }
FN size_t __cvta_generic_to_constant(const void *p) { return (size_t)(const CONSTANT_SPACE void *)p; }
FN size_t __cvta_generic_to_local(const void *p) { return (size_t)(const LOCAL_SPACE void *)p; }
FN void *__cvta_shared_to_generic(size_t p) { return (void *)(SHARED_SPACE void *)p; }
FN void *__cvta_global_to_generic(size_t p) { return (void *)(GLOBAL_SPACE void *)p; }
FN void *__cvta_constant_to_generic(size_t p) { return (void *)(CONSTANT_SPACE void *)p; }
FN void *__cvta_local_to_generic(size_t p) { return (void *)(LOCAL_SPACE void *)p; }
#undef SHARED_SPACE
#undef GLOBAL_SPACE
#undef CONSTANT_SPACE
#undef LOCAL_SPACE
FN unsigned __isGlobal(const void *p) { return __nvvm_isspacep_global(p); }
FN unsigned __isShared(const void *p) { return __nvvm_isspacep_shared(p); }
FN unsigned __isLocal(const void *p) { return __nvvm_isspacep_local(p); }

// Loads and stores with a hint for the caches. `__ldg` promises that nothing writes there while the kernel runs.
#define HINT(type, constraint, suffix) \
    LOAD(__ldg, "ld.global.nc.", type, constraint, suffix) \
    LOAD(__ldca, "ld.global.ca.", type, constraint, suffix) \
    LOAD(__ldcg, "ld.global.cg.", type, constraint, suffix) \
    LOAD(__ldcs, "ld.global.cs.", type, constraint, suffix) \
    LOAD(__ldlu, "ld.global.lu.", type, constraint, suffix) \
    LOAD(__ldcv, "ld.global.cv.", type, constraint, suffix) \
    STORE(__stwb, "st.global.wb.", type, constraint, suffix) \
    STORE(__stcg, "st.global.cg.", type, constraint, suffix) \
    STORE(__stcs, "st.global.cs.", type, constraint, suffix) \
    STORE(__stwt, "st.global.wt.", type, constraint, suffix)

#define LOAD(function, instruction, type, constraint, suffix) \
    FN type function(const type *p) \
    { \
        type v; \
        asm(instruction suffix " %0, [%1];" : "=" constraint(v) : "l"(p)); \
        return v; \
    }
#define STORE(function, instruction, type, constraint, suffix) \
    FN void function(type *p, type v) { asm(instruction suffix " [%0], %1;" ::"l"(p), constraint(v) : "memory"); }
HINT(short, "h", "s16")
HINT(unsigned short, "h", "u16")
HINT(int, "r", "s32")
HINT(unsigned, "r", "u32")
HINT(long, "l", "s64")
HINT(unsigned long, "l", "u64")
HINT(long long, "l", "s64")
HINT(unsigned long long, "l", "u64")
HINT(float, "f", "f32")
HINT(double, "d", "f64")
#undef LOAD
#undef STORE

// A byte is in a register of 32 bits.
#define LOAD(function, instruction, type, constraint, suffix) \
    FN type function(const type *p) \
    { \
        unsigned v; \
        asm(instruction suffix " %0, [%1];" : "=r"(v) : "l"(p)); \
        return (type)v; \
    }
#define STORE(function, instruction, type, constraint, suffix) \
    FN void function(type *p, type v) { asm(instruction suffix " [%0], %1;" ::"l"(p), "r"((unsigned)v) : "memory"); }
HINT(char, "r", "s8")
HINT(signed char, "r", "s8")
HINT(unsigned char, "r", "u8")
#undef LOAD
#undef STORE

// Four bytes are a word, and two are half of one.
#define LOAD(function, instruction, type, constraint, suffix) \
    FN type function(const type *p) \
    { \
        type v; \
        *(suffix *)&v = function((const suffix *)p); \
        return v; \
    }
#define STORE(function, instruction, type, constraint, suffix) \
    FN void function(type *p, type v) { function((suffix *)p, *(suffix *)&v); }
HINT(char2, , unsigned short)
HINT(uchar2, , unsigned short)
HINT(char4, , unsigned)
HINT(uchar4, , unsigned)
HINT(short2, , unsigned)
HINT(ushort2, , unsigned)
#undef LOAD
#undef STORE

#define LOAD(function, instruction, type, constraint, suffix) \
    FN type function(const type *p) \
    { \
        type v; \
        asm(instruction "v2." suffix " {%0, %1}, [%2];" : "=" constraint(v.x), "=" constraint(v.y) : "l"(p)); \
        return v; \
    }
#define STORE(function, instruction, type, constraint, suffix) \
    FN void function(type *p, type v) \
    { \
        asm(instruction "v2." suffix " [%0], {%1, %2};" ::"l"(p), constraint(v.x), constraint(v.y) : "memory"); \
    }
HINT(int2, "r", "s32")
HINT(uint2, "r", "u32")
HINT(float2, "f", "f32")
HINT(longlong2, "l", "s64")
HINT(ulonglong2, "l", "u64")
HINT(double2, "d", "f64")
#undef LOAD
#undef STORE

#define LOAD(function, instruction, type, constraint, suffix) \
    FN type function(const type *p) \
    { \
        type v; \
        asm(instruction "v4." suffix " {%0, %1, %2, %3}, [%4];" \
            : "=" constraint(v.x), "=" constraint(v.y), "=" constraint(v.z), "=" constraint(v.w) \
            : "l"(p)); \
        return v; \
    }
#define STORE(function, instruction, type, constraint, suffix) \
    FN void function(type *p, type v) \
    { \
        asm(instruction "v4." suffix " [%0], {%1, %2, %3, %4};" ::"l"(p), constraint(v.x), constraint(v.y), constraint(v.z), \
            constraint(v.w) \
            : "memory"); \
    }
HINT(int4, "r", "s32")
HINT(uint4, "r", "u32")
HINT(float4, "f", "f32")
#undef LOAD
#undef STORE
#undef HINT

// ---- Atomics ----

// CUDA's atomics order nothing else ("relaxed") and hold on the whole device. clang's own do not order either when they are told so.
#define ATOMIC(function, name, type) \
    FN type atomic##function(type *p, type v) { return __scoped_atomic_##name(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); }
#define CAS(type) \
    FN type atomicCAS(type *p, type compare, type v) \
    { \
        __scoped_atomic_compare_exchange_n(p, &compare, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); \
        return compare; \
    }
#define ATOMICS(type) \
    ATOMIC(Add, fetch_add, type) \
    ATOMIC(Exch, exchange_n, type) \
    ATOMIC(Min, fetch_min, type) \
    ATOMIC(Max, fetch_max, type) \
    ATOMIC(And, fetch_and, type) \
    ATOMIC(Or, fetch_or, type) \
    ATOMIC(Xor, fetch_xor, type) \
    CAS(type)
ATOMICS(int)
ATOMICS(unsigned)
ATOMICS(unsigned long long)
ATOMIC(Min, fetch_min, long long)
ATOMIC(Max, fetch_max, long long)
ATOMIC(And, fetch_and, long long)
ATOMIC(Or, fetch_or, long long)
ATOMIC(Xor, fetch_xor, long long)
ATOMIC(Sub, fetch_sub, int)
ATOMIC(Sub, fetch_sub, unsigned)
ATOMIC(Add, fetch_add, float)
#if __CUDA_ARCH__ >= 600
ATOMIC(Add, fetch_add, double)
#endif
FN float atomicExch(float *p, float v) { return __uint_as_float(atomicExch((unsigned *)p, __float_as_uint(v))); }
FN unsigned atomicInc(unsigned *p, unsigned last) { return __nvvm_atom_inc_gen_ui(p, last); }
FN unsigned atomicDec(unsigned *p, unsigned last) { return __nvvm_atom_dec_gen_ui(p, last); }
#undef ATOMICS
#undef CAS
#undef ATOMIC

#if __CUDA_ARCH__ >= 600
// The same for one block, and for the whole system.
#define SCOPED(suffix, scope) \
    ATOMIC(Add, suffix, int, int, scope, add_gen_i) \
    ATOMIC(Add, suffix, unsigned, int, scope, add_gen_i) \
    ATOMIC(Add, suffix, unsigned long long, long long, scope, add_gen_ll) \
    ATOMIC(Add, suffix, float, float, scope, add_gen_f) \
    ATOMIC(Add, suffix, double, double, scope, add_gen_d) \
    ATOMIC(Exch, suffix, int, int, scope, xchg_gen_i) \
    ATOMIC(Exch, suffix, unsigned, int, scope, xchg_gen_i) \
    ATOMIC(Exch, suffix, unsigned long long, long long, scope, xchg_gen_ll) \
    ATOMIC(Exch, suffix, float, int, scope, xchg_gen_i) \
    ATOMIC(Min, suffix, int, int, scope, min_gen_i) \
    UNSIGNED(Min, suffix, unsigned, scope, "min.u32", "r") \
    ATOMIC(Min, suffix, long long, long long, scope, min_gen_ll) \
    UNSIGNED(Min, suffix, unsigned long long, scope, "min.u64", "l") \
    ATOMIC(Max, suffix, int, int, scope, max_gen_i) \
    UNSIGNED(Max, suffix, unsigned, scope, "max.u32", "r") \
    ATOMIC(Max, suffix, long long, long long, scope, max_gen_ll) \
    UNSIGNED(Max, suffix, unsigned long long, scope, "max.u64", "l") \
    ATOMIC(Inc, suffix, unsigned, unsigned, scope, inc_gen_ui) \
    ATOMIC(Dec, suffix, unsigned, unsigned, scope, dec_gen_ui) \
    BITS(And, suffix, scope, and) \
    BITS(Or, suffix, scope, or) \
    BITS(Xor, suffix, scope, xor) \
    CAS(suffix, int, int, scope, cas_gen_i) \
    CAS(suffix, unsigned, int, scope, cas_gen_i) \
    CAS(suffix, unsigned long long, long long, scope, cas_gen_ll) \
    FN int atomicSub##suffix(int *p, int v) { return atomicAdd##suffix(p, -v); } \
    FN unsigned atomicSub##suffix(unsigned *p, unsigned v) { return atomicAdd##suffix(p, -v); }
#define BITS(function, suffix, scope, name) \
    ATOMIC(function, suffix, int, int, scope, name##_gen_i) \
    ATOMIC(function, suffix, unsigned, int, scope, name##_gen_i) \
    ATOMIC(function, suffix, long long, long long, scope, name##_gen_ll) \
    ATOMIC(function, suffix, unsigned long long, long long, scope, name##_gen_ll)
#define ATOMIC(function, suffix, type, as, scope, name) \
    FN type atomic##function##suffix(type *p, type v) \
    { \
        return __builtin_bit_cast(type, __nvvm_atom_##scope##_##name((as *)p, __builtin_bit_cast(as, v))); \
    }
// clang's own builtins for these compare as signed numbers.
#define UNSIGNED(function, suffix, type, scope, name, constraint) \
    FN type atomic##function##suffix(type *p, type v) \
    { \
        type old; \
        asm volatile("atom." #scope "." name " %0, [%1], %2;" : "=" constraint(old) : "l"(p), constraint(v) : "memory"); \
        return old; \
    }
#define CAS(suffix, type, as, scope, name) \
    FN type atomicCAS##suffix(type *p, type compare, type v) { return (type)__nvvm_atom_##scope##_##name((as *)p, (as)compare, (as)v); }
SCOPED(_block, cta)
SCOPED(_system, sys)
#undef SCOPED
#undef BITS
#undef UNSIGNED
#undef ATOMIC
#undef CAS
#endif

// ---- The rest ----

FN clock_t clock() { return (clock_t)__nvvm_read_ptx_sreg_clock(); }
FN long long clock64() { return (long long)__nvvm_read_ptx_sreg_clock64(); }
FN void __trap() { __builtin_trap(); }
FN void *memcpy(void *to, const void *from, size_t bytes) { return __builtin_memcpy(to, from, bytes); }
FN void *memset(void *to, int value, size_t bytes) { return __builtin_memset(to, value, bytes); }

extern "C" __device__ int printf(const char *, ...);
extern "C" __device__ void __assertfail(const char *, const char *, unsigned, const char *, size_t);
#ifndef NDEBUG
#define assert(condition) \
    ((condition) ? (void)0 : __assertfail(#condition, __FILE__, __LINE__, (const char *)__PRETTY_FUNCTION__, 1))
#else
#define assert(condition) ((void)0)
#endif

// What CUDA has and this header has not.
#define REFUSED __attribute__((unavailable("Unrolled's header for clang does not have it; NVRTC, on Linux and Windows, does")))
#define NO_F1(name) REFUSED __device__ float name##f(float); REFUSED __device__ double name(double);
#define NO_F2(name) REFUSED __device__ float name##f(float, float); REFUSED __device__ double name(double, double);
NO_F1(sin) NO_F1(cos) NO_F1(tan) NO_F1(asin) NO_F1(acos) NO_F1(atan) NO_F1(sinh) NO_F1(cosh) NO_F1(tanh) NO_F1(asinh) NO_F1(acosh)
NO_F1(atanh) NO_F1(sinpi) NO_F1(cospi) NO_F1(cbrt) NO_F1(rcbrt) NO_F1(expm1) NO_F1(log1p) NO_F1(erf) NO_F1(erfc) NO_F1(erfinv)
NO_F1(erfcinv) NO_F1(erfcx) NO_F1(normcdf) NO_F1(normcdfinv) NO_F1(lgamma) NO_F1(tgamma) NO_F1(j0) NO_F1(j1) NO_F1(y0) NO_F1(y1)
NO_F1(logb) NO_F2(atan2) NO_F2(hypot) NO_F2(rhypot) NO_F2(fmod) NO_F2(remainder) NO_F2(nextafter)
REFUSED __device__ double exp(double);
REFUSED __device__ double exp2(double);
REFUSED __device__ double exp10(double);
REFUSED __device__ double log(double);
REFUSED __device__ double log2(double);
REFUSED __device__ double log10(double);
REFUSED __device__ double pow(double, double);
REFUSED __device__ double rsqrt(double);
REFUSED __device__ float ldexpf(float, int);
REFUSED __device__ float scalbnf(float, int);
REFUSED __device__ float frexpf(float, int *);
REFUSED __device__ float modff(float, float *);
REFUSED __device__ void sincosf(float, float *, float *);
REFUSED __device__ void *malloc(size_t);
REFUSED __device__ void free(void *);
#undef NO_F1
#undef NO_F2
#undef REFUSED

#undef ALL_LANES
#undef FN
