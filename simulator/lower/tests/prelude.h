#pragma once
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __align__(n) __attribute__((aligned(n)))
typedef unsigned long size_t; typedef unsigned char uchar;
typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned uint32_t; typedef int int32_t; typedef long long int64_t; typedef unsigned long long uint64_t; typedef short int16_t; typedef signed char int8_t;
struct dim3 { unsigned x,y,z; };
#define DV static __device__ __forceinline__
#define SREG(T, r) struct T##_t { __declspec(property(get=gx)) unsigned x; __declspec(property(get=gy)) unsigned y; __declspec(property(get=gz)) unsigned z; \
 DV unsigned gx(){return __nvvm_read_ptx_sreg_##r##_x();} DV unsigned gy(){return __nvvm_read_ptx_sreg_##r##_y();} DV unsigned gz(){return __nvvm_read_ptx_sreg_##r##_z();} }; extern const __device__ __attribute__((weak)) T##_t T;
SREG(threadIdx, tid) SREG(blockIdx, ctaid) SREG(blockDim, ntid) SREG(gridDim, nctaid)
#define V2(n,t,a) struct __align__(a) n { t x,y; }; DV n make_##n(t x,t y){return n{x,y};}
#define V4(n,t,a) struct __align__(a) n { t x,y,z,w; }; DV n make_##n(t x,t y,t z,t w){return n{x,y,z,w};}
V2(float2,float,8) V4(float4,float,16) V2(uint2,unsigned,8) V4(uint4,unsigned,16) V2(int2,int,8) V4(int4,int,16) V4(uchar4,unsigned char,4) V2(double2,double,16) V2(ushort2,unsigned short,4) V4(ushort4, unsigned short, 8)
#define MM(t) DV t min(t a,t b){return a<b?a:b;} DV t max(t a,t b){return a>b?a:b;}
MM(int) MM(unsigned) MM(long long) MM(unsigned long long) MM(long) MM(unsigned long)
DV float min(float a,float b){return __builtin_fminf(a,b);} DV float max(float a,float b){return __builtin_fmaxf(a,b);}
DV unsigned long min(unsigned a, unsigned long b){return a<b?a:b;} DV unsigned min(int a, unsigned b){return (unsigned)a<b?a:b;} DV unsigned min(unsigned a,int b){return min(a,(unsigned)b);}
DV float fminf(float a,float b){return __builtin_fminf(a,b);} DV float fmaxf(float a,float b){return __builtin_fmaxf(a,b);}
DV float fabsf(float a){return __builtin_fabsf(a);} DV float sqrtf(float a){return __builtin_sqrtf(a);} DV float fmaf(float a,float b,float c){return __builtin_fmaf(a,b,c);}
DV float rsqrtf(float a){return __nvvm_rsqrt_approx_f(a);}
DV unsigned __umul24(unsigned a,unsigned b){return __nvvm_mul24_ui(a,b);}
DV int __clz(int a){return a==0?32:__builtin_clz(a);}
DV unsigned __float_as_uint(float a){return __builtin_bit_cast(unsigned,a);} DV int __float_as_int(float a){return __builtin_bit_cast(int,a);}
DV float __uint_as_float(unsigned a){return __builtin_bit_cast(float,a);} DV float __int_as_float(int a){return __builtin_bit_cast(float,a);}
DV unsigned __shfl_up_sync(unsigned m,unsigned v,unsigned d){return __nvvm_shfl_sync_up_i32(m,v,d,0);}
DV float __shfl_up_sync(unsigned m,float v,unsigned d){return __nvvm_shfl_sync_up_f32(m,v,d,0);}
DV float __shfl_down_sync(unsigned m,float v,unsigned d){return __nvvm_shfl_sync_down_f32(m,v,d,31);}
DV unsigned __shfl_xor_sync(unsigned m,unsigned v,unsigned d){return __nvvm_shfl_sync_bfly_i32(m,v,d,31);}
DV unsigned __ballot_sync(unsigned m,int p){return __nvvm_vote_ballot_sync(m,p);}
DV unsigned __reduce_max_sync(unsigned m,unsigned v){return __nvvm_redux_sync_umax(v,m);}
DV unsigned __funnelshift_r(unsigned l,unsigned h,unsigned s){return (unsigned)((((unsigned long long)h<<32)|l)>>(s&31));}
DV size_t __cvta_generic_to_shared(const void*p){return (size_t)(void __attribute__((address_space(3)))*)p;}
DV unsigned __dp4a(unsigned a,unsigned b,unsigned c){unsigned r; asm("dp4a.u32.u32 %0, %1, %2, %3;":"=r"(r):"r"(a),"r"(b),"r"(c)); return r;}
DV void __stcs(float*p,float v){asm("st.global.cs.f32 [%0], %1;"::"l"(p),"f"(v):"memory");}
DV float powf(float a,float b){return __nvvm_ex2_approx_f(b*__nvvm_lg2_approx_f(a));}
DV int atomicAdd(int*p,int v){return __nvvm_atom_add_gen_i(p,v);} DV float atomicAdd(float*p,float v){return __nvvm_atom_add_gen_f(p,v);}
DV unsigned atomicCAS(unsigned*p,unsigned c,unsigned v){return __nvvm_atom_cas_gen_i((int*)p,c,v);}
