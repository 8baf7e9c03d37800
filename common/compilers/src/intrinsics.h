__device__ unsigned __dp4a(unsigned a, unsigned b, unsigned c)
{ asm("dp4a.u32.u32 %0, %1, %2, %0;" : "+r"(c) : "r"(a), "r"(b)); return c; }
__device__ int __dp4a(int a, int b, int c)
{ asm("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(c) : "r"(a), "r"(b)); return c; }
__device__ unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c)
{ asm("dp2a.lo.u32.u32 %0, %1, %2, %0;" : "+r"(c) : "r"(a), "r"(b)); return c; }
__device__ int __dp2a_lo(int a, int b, int c)
{ asm("dp2a.lo.s32.s32 %0, %1, %2, %0;" : "+r"(c) : "r"(a), "r"(b)); return c; }
__device__ unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c)
{ asm("dp2a.hi.u32.u32 %0, %1, %2, %0;" : "+r"(c) : "r"(a), "r"(b)); return c; }
__device__ int __dp2a_hi(int a, int b, int c)
{ asm("dp2a.hi.s32.s32 %0, %1, %2, %0;" : "+r"(c) : "r"(a), "r"(b)); return c; }
