; Forms that clang's optimizer makes rarely, each in a kernel of its own: %a has 16 words to read, %r has words for results.
target triple = "nvptx64-nvidia-cuda"

%pair = type { i32, float }
%nested = type { i8, %pair, [2 x i16] }

@table = internal unnamed_addr addrspace(4) constant [4 x i32] [i32 3, i32 1, i32 4, i32 1], align 4
@text = private unnamed_addr constant [6 x i8] c"%d %s\00", align 1
@.str.1 = private unnamed_addr constant [3 x i8] c"ok\00", align 1
@counter = dso_local addrspace(1) externally_initialized global i32 5, align 4
@pointers = internal addrspace(1) constant [2 x ptr] [ptr @text, ptr addrspacecast (ptr addrspace(1) @counter to ptr)], align 8
@dynamic = external addrspace(3) global [0 x i32], align 4

define ptx_kernel void @wide(ptr %a, ptr %r) {
entry:
  %x = load i32, ptr %a, align 4
  %w = zext i32 %x to i65
  %n = add nuw i65 %w, -1
  %m = mul i65 %w, %n
  %h = lshr i65 %m, 1
  %t = trunc i65 %h to i64
  %lo = trunc i64 %t to i32
  store i32 %lo, ptr %r, align 4
  %odd = zext i32 %x to i33
  %odd2 = mul i33 %odd, %odd
  %odd3 = lshr i33 %odd2, 1
  %odd4 = trunc i33 %odd3 to i32
  %r1 = getelementptr i8, ptr %r, i64 4
  store i32 %odd4, ptr %r1, align 4
  %s = sext i32 %x to i128
  %neg = sub i128 0, %s
  %big = shl i128 %neg, 70
  %back = ashr i128 %big, 70
  %less = icmp slt i128 %back, 0
  %z = zext i1 %less to i32
  %r2 = getelementptr i8, ptr %r, i64 8
  store i32 %z, ptr %r2, align 4
  %b32 = trunc i128 %back to i32
  %r3 = getelementptr i8, ptr %r, i64 12
  store i32 %b32, ptr %r3, align 4
  ret void
}

define ptx_kernel void @switches(ptr %a, ptr %r) {
  %x = load i32, ptr %a, align 4
  switch i32 %x, label %other [
    i32 1, label %one
    i32 2, label %two
    i32 3, label %one
    i32 5, label %two
    i32 7, label %seven
  ]

one:
  br label %done

two:
  br label %done

seven:
  %y = mul i32 %x, 3
  br label %done

other:
  switch i32 %x, label %done [
    i32 -1, label %one
    i32 100, label %two
  ]

done:
  %v = phi i32 [ 10, %one ], [ 20, %two ], [ %y, %seven ], [ 99, %other ]
  store i32 %v, ptr %r, align 4
  ret void
}

define ptx_kernel void @swap(ptr %a, ptr %r) {
  %n = load i32, ptr %a, align 4
  br label %loop

loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  %x = phi i32 [ 1, %0 ], [ %y, %loop ]
  %y = phi i32 [ 2, %0 ], [ %z, %loop ]
  %z = phi i32 [ 3, %0 ], [ %x, %loop ]
  %next = add nuw nsw i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %done

done:
  store i32 %x, ptr %r, align 4
  %r1 = getelementptr inbounds i32, ptr %r, i64 1
  store i32 %y, ptr %r1, align 4
  %r2 = getelementptr inbounds i32, ptr %r, i64 2
  store i32 %z, ptr %r2, align 4
  %r3 = getelementptr inbounds i32, ptr %r, i64 3
  store i32 %i, ptr %r3, align 4
  ret void
}

define ptx_kernel void @vectors(ptr %a, ptr %r) {
  %v = load <4 x i32>, ptr %a, align 16
  %w = shufflevector <4 x i32> %v, <4 x i32> <i32 7, i32 8, i32 9, i32 10>, <4 x i32> <i32 3, i32 0, i32 5, i32 poison>
  %s = add <4 x i32> %w, splat (i32 1)
  %t = insertelement <4 x i32> %s, i32 42, i64 3
  %c = icmp ugt <4 x i32> %t, <i32 5, i32 5, i32 5, i32 5>
  %u = select <4 x i1> %c, <4 x i32> %t, <4 x i32> zeroinitializer
  store <4 x i32> %u, ptr %r, align 16
  %first = extractelement <4 x i32> %v, i64 0
  %at = and i32 %first, 3
  %which = extractelement <4 x i32> %v, i32 %at
  %r4 = getelementptr i8, ptr %r, i64 16
  store i32 %which, ptr %r4, align 4
  %bytes = bitcast i32 %first to <4 x i8>
  %rev = shufflevector <4 x i8> %bytes, <4 x i8> poison, <4 x i32> <i32 3, i32 2, i32 1, i32 0>
  %word = bitcast <4 x i8> %rev to i32
  %r5 = getelementptr i8, ptr %r, i64 20
  store i32 %word, ptr %r5, align 4
  %halves = bitcast i32 %first to <2 x i16>
  %hi = extractelement <2 x i16> %halves, i32 1
  %ext = sext i16 %hi to i32
  %r6 = getelementptr i8, ptr %r, i64 24
  store i32 %ext, ptr %r6, align 4
  ret void
}

define ptx_kernel void @structures(ptr byval(%nested) align 4 %n, ptr %r) {
  %p = getelementptr inbounds %nested, ptr %n, i64 0, i32 1, i32 0
  %x = load i32, ptr %p, align 4
  %q = getelementptr inbounds %nested, ptr %n, i64 0, i32 2, i64 1
  %y = load i16, ptr %q, align 2
  %z = sext i16 %y to i32
  %pair = insertvalue { i32, i32 } poison, i32 %x, 0
  %both = insertvalue { i32, i32 } %pair, i32 %z, 1
  %sum = call i32 @total({ i32, i32 } %both, i1 true)
  store i32 %sum, ptr %r, align 4
  %local = alloca [4 x i32], align 16
  call void @llvm.memset.p0.i64(ptr align 16 %local, i8 1, i64 16, i1 false)
  %l2 = getelementptr inbounds [4 x i32], ptr %local, i64 0, i64 2
  store i32 %x, ptr %l2, align 4
  %index = and i32 %z, 3
  %l3 = getelementptr inbounds [4 x i32], ptr %local, i64 0, i32 %index
  %found = load i32, ptr %l3, align 4
  %r1 = getelementptr i8, ptr %r, i64 4
  store i32 %found, ptr %r1, align 4
  %r2 = getelementptr i8, ptr %r, i64 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %r2, ptr align 16 %local, i64 16, i1 false)
  ret void
}

define ptx_kernel void @copied(ptr byval(%nested) align 4 %n, ptr %r) {
  %p = getelementptr inbounds %nested, ptr %n, i64 0, i32 1, i32 0
  %x = load i32, ptr %p, align 4
  %y = mul i32 %x, 3
  store i32 %y, ptr %p, align 4
  %z = load volatile i32, ptr %p, align 4
  store i32 %z, ptr %r, align 4
  ret void
}

define internal i32 @total({ i32, i32 } %pair, i1 %more) noinline {
  %x = extractvalue { i32, i32 } %pair, 0
  %y = extractvalue { i32, i32 } %pair, 1
  %s = add i32 %x, %y
  %t = select i1 %more, i32 %s, i32 0
  ret i32 %t
}

define ptx_kernel void @spaces(ptr %a, ptr %r) {
  %x = load i32, ptr %a, align 4
  %which = icmp sgt i32 %x, 3
  %mixed = select i1 %which, ptr addrspacecast (ptr addrspace(4) @table to ptr), ptr %a
  %v = load i32, ptr %mixed, align 4
  store i32 %v, ptr %r, align 4
  %index = and i32 %x, 3
  %wide = zext nneg i32 %index to i64
  %t = getelementptr inbounds [4 x i32], ptr addrspacecast (ptr addrspace(4) @table to ptr), i64 0, i64 %wide
  %c = load i32, ptr %t, align 4
  %r1 = getelementptr i8, ptr %r, i64 4
  store i32 %c, ptr %r1, align 4
  %p = load ptr, ptr addrspacecast (ptr addrspace(1) getelementptr inbounds ([2 x ptr], ptr addrspace(1) @pointers, i64 0, i64 1) to ptr), align 8
  %old = atomicrmw add ptr %p, i32 2 seq_cst, align 4
  %r2 = getelementptr i8, ptr %r, i64 8
  store i32 %old, ptr %r2, align 4
  %swap = cmpxchg ptr addrspace(1) @counter, i32 7, i32 %x seq_cst seq_cst, align 4
  %found = extractvalue { i32, i1 } %swap, 0
  %did = extractvalue { i32, i1 } %swap, 1
  %bit = zext i1 %did to i32
  %both = shl i32 %found, 1
  %word = or disjoint i32 %both, %bit
  %r3 = getelementptr i8, ptr %r, i64 12
  store i32 %word, ptr %r3, align 4
  fence syncscope("block") seq_cst
  %null = icmp eq ptr addrspacecast (ptr addrspace(3) @dynamic to ptr), null
  %n = sext i1 %null to i32
  %r4 = getelementptr i8, ptr %r, i64 16
  store i32 %n, ptr %r4, align 4
  ret void
}

define ptx_kernel void @inline(ptr %a, ptr %r) {
  %x = load i32, ptr %a, align 4
  %y = call i32 asm "{ .reg .u32 t; add.u32 t, $1, $2; mov.u32 $0, t; }", "=r,r,n"(i32 %x, i32 100)
  store i32 %y, ptr %r, align 4
  %z = call i32 asm "add.u32 $0, $0, $1;", "=r,r,0"(i32 5, i32 %x)
  %r1 = getelementptr i8, ptr %r, i64 4
  store i32 %z, ptr %r1, align 4
  %two = call { i32, i32 } asm "mov.b64 {$0, $1}, $2;", "=r,=r,l"(i64 21474836484)
  %lo = extractvalue { i32, i32 } %two, 0
  %hi = extractvalue { i32, i32 } %two, 1
  %sum = add i32 %lo, %hi
  %r2 = getelementptr i8, ptr %r, i64 8
  store i32 %sum, ptr %r2, align 4
  %s = trunc i32 %x to i16
  %t = call i16 asm "mov.u16 $0, $1;", "=h,h"(i16 %s)
  %u = zext i16 %t to i32
  %r3 = getelementptr i8, ptr %r, i64 12
  store i32 %u, ptr %r3, align 4
  ret void
}

define ptx_kernel void @functions(ptr %a, ptr %r) {
  %x = load i32, ptr %a, align 4
  %a1 = getelementptr i8, ptr %a, i64 4
  %y = load i32, ptr %a1, align 4
  %f1 = call i32 @llvm.fshl.i32(i32 %x, i32 %y, i32 8)
  store i32 %f1, ptr %r, align 4
  %b = trunc i32 %x to i8
  %f2 = call i8 @llvm.ctlz.i8(i8 %b, i1 false)
  %f3 = call i8 @llvm.cttz.i8(i8 %b, i1 false)
  %f4 = call i8 @llvm.bitreverse.i8(i8 %b)
  %e2 = zext i8 %f2 to i32
  %e3 = zext i8 %f3 to i32
  %e4 = zext i8 %f4 to i32
  %m3 = shl i32 %e3, 8
  %m4 = shl i32 %e4, 16
  %o1 = or i32 %e2, %m3
  %o2 = or i32 %o1, %m4
  %r1 = getelementptr i8, ptr %r, i64 4
  store i32 %o2, ptr %r1, align 4
  %over = call { i32, i1 } @llvm.uadd.with.overflow.i32(i32 %x, i32 -2)
  %sum = extractvalue { i32, i1 } %over, 0
  %did = extractvalue { i32, i1 } %over, 1
  %sat = select i1 %did, i32 -1, i32 %sum
  %r2 = getelementptr i8, ptr %r, i64 8
  store i32 %sat, ptr %r2, align 4
  %cmp = call i8 @llvm.scmp.i8.i32(i32 %x, i32 %y)
  %c = sext i8 %cmp to i32
  %r3 = getelementptr i8, ptr %r, i64 12
  store i32 %c, ptr %r3, align 4
  %swapped = call i16 @llvm.bswap.i16(i16 4660)
  %sw = zext i16 %swapped to i32
  %r4 = getelementptr i8, ptr %r, i64 16
  store i32 %sw, ptr %r4, align 4
  %d = sitofp i32 %x to double
  %half = fptrunc double %d to half
  %again = fadd half %half, 0xH3C00
  %back = fptosi half %again to i32
  %r5 = getelementptr i8, ptr %r, i64 20
  store i32 %back, ptr %r5, align 4
  %fr = frem float 7.500000e+00, 2.000000e+00
  %bits = bitcast float %fr to i32
  %r6 = getelementptr i8, ptr %r, i64 24
  store i32 %bits, ptr %r6, align 4
  %long = zext i32 %x to i64
  %rot = call i64 @llvm.fshr.i64(i64 %long, i64 %long, i64 4)
  %top = lshr i64 %rot, 32
  %w = trunc i64 %top to i32
  %r7 = getelementptr i8, ptr %r, i64 28
  store i32 %w, ptr %r7, align 4
  ret void
}

define ptx_kernel void @prints(ptr %a, ptr %r) {
  %buffer = alloca { i32, ptr }, align 8
  %x = load i32, ptr %a, align 4
  store i32 %x, ptr %buffer, align 8
  %second = getelementptr inbounds { i32, ptr }, ptr %buffer, i64 0, i32 1
  store ptr @.str.1, ptr %second, align 8
  %n = call i32 @vprintf(ptr @text, ptr %buffer)
  store i32 %n, ptr %r, align 4
  ret void
}

declare i32 @vprintf(ptr, ptr)
declare i32 @llvm.fshl.i32(i32, i32, i32)
declare i64 @llvm.fshr.i64(i64, i64, i64)
declare i8 @llvm.ctlz.i8(i8, i1 immarg)
declare i8 @llvm.cttz.i8(i8, i1 immarg)
declare i8 @llvm.bitreverse.i8(i8)
declare i16 @llvm.bswap.i16(i16)
declare i8 @llvm.scmp.i8.i32(i32, i32)
declare { i32, i1 } @llvm.uadd.with.overflow.i32(i32, i32)
declare void @llvm.memset.p0.i64(ptr writeonly captures(none), i8, i64, i1 immarg)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias writeonly captures(none), ptr noalias readonly captures(none), i64, i1 immarg)
