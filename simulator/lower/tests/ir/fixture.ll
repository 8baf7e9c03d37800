; ModuleID = 'fixture.cu'
source_filename = "fixture.cu"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@_ZZ7fixtureE6s_tile = internal unnamed_addr addrspace(3) global [64 x float] undef, align 4

; Function Attrs: mustprogress nofree noinline norecurse nosync nounwind willreturn memory(none)
define dso_local noundef float @_Z6squaref(float noundef %0) local_unnamed_addr #0 !dbg !12 {
  %2 = fmul contract float %0, %0, !dbg !15
  ret float %2, !dbg !16
}

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @fixture(ptr noalias noundef readonly captures(none) %0, ptr noalias noundef writeonly captures(none) %1, i32 noundef %2) local_unnamed_addr #1 !dbg !17 {
  %4 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !18
  %5 = icmp slt i32 %4, %2, !dbg !22
  %6 = zext nneg i32 %4 to i64
  br i1 %5, label %7, label %10, !dbg !23

7:                                                ; preds = %3
  %8 = getelementptr inbounds nuw float, ptr %0, i64 %6
  %9 = load float, ptr %8, align 4, !dbg !24, !tbaa !25
  br label %10, !dbg !23

10:                                               ; preds = %3, %7
  %11 = phi contract float [ %9, %7 ], [ 0.000000e+00, %3 ], !dbg !23
  %12 = getelementptr inbounds nuw float, ptr addrspacecast (ptr addrspace(3) @_ZZ7fixtureE6s_tile to ptr), i64 %6, !dbg !27
  store float %11, ptr %12, align 4, !dbg !28, !tbaa !25
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !29
  br label %14, !dbg !30

13:                                               ; preds = %14
  br i1 %5, label %26, label %34, !dbg !31

14:                                               ; preds = %10, %14
  %15 = phi i32 [ 0, %10 ], [ %24, %14 ]
  %16 = phi float [ 0.000000e+00, %10 ], [ %23, %14 ]
  %17 = xor i32 %15, %4, !dbg !32
  %18 = zext nneg i32 %17 to i64, !dbg !33
  %19 = getelementptr inbounds nuw float, ptr addrspacecast (ptr addrspace(3) @_ZZ7fixtureE6s_tile to ptr), i64 %18, !dbg !33
  %20 = load float, ptr %19, align 4, !dbg !33, !tbaa !25
  %21 = uitofp nneg i32 %15 to float, !dbg !34
  %22 = fmul contract float %20, %21, !dbg !35
  %23 = fadd contract float %16, %22, !dbg !36
  %24 = add nuw nsw i32 %15, 1, !dbg !37
  %25 = icmp eq i32 %24, 64, !dbg !38
  br i1 %25, label %13, label %14, !dbg !30, !llvm.loop !39

26:                                               ; preds = %13
  %27 = getelementptr inbounds nuw float, ptr %1, i64 %6
  %28 = sub nsw i32 63, %4
  %29 = sext i32 %28 to i64
  %30 = getelementptr inbounds float, ptr addrspacecast (ptr addrspace(3) @_ZZ7fixtureE6s_tile to ptr), i64 %29
  %31 = tail call contract noundef float @_Z6squaref(float noundef %23) #4, !dbg !43
  %32 = load float, ptr %30, align 4, !dbg !44, !tbaa !25
  %33 = fadd contract float %31, %32, !dbg !45
  store float %33, ptr %27, align 4, !dbg !46, !tbaa !25
  br label %34, !dbg !47

34:                                               ; preds = %26, %13
  ret void, !dbg !48
}

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #3

attributes #0 = { mustprogress nofree noinline norecurse nosync nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_80" "target-features"="+ptx42,+ptx80,+sm_80" }
attributes #1 = { convergent mustprogress noinline norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_80" "target-features"="+ptx42,+ptx80,+sm_80" "uniform-work-group-size"="true" }
attributes #2 = { convergent nocallback nounwind }
attributes #3 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #4 = { nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5, !6}
!llvm.ident = !{!7}
!llvm.errno.tbaa = !{!8}

!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1, producer: "clang version 22.1.8", isOptimized: true, runtimeVersion: 0, emissionKind: DebugDirectivesOnly, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "fixture.cu", directory: "kernels")
!2 = !{i32 7, !"Dwarf Version", i32 2}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 4, !"nvvm-reflect-ftz", i32 0}
!6 = !{i32 7, !"frame-pointer", i32 2}
!7 = !{!"clang version 22.1.8"}
!8 = !{!9, !9, i64 0}
!9 = !{!"int", !10, i64 0}
!10 = !{!"omnipotent char", !11, i64 0}
!11 = !{!"Simple C++ TBAA"}
!12 = distinct !DISubprogram(name: "square", scope: !1, file: !1, line: 1, type: !13, scopeLine: 1, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!13 = !DISubroutineType(types: !14)
!14 = !{}
!15 = !DILocation(line: 1, column: 58, scope: !12)
!16 = !DILocation(line: 1, column: 49, scope: !12)
!17 = distinct !DISubprogram(name: "fixture", scope: !1, file: !1, line: 2, type: !13, scopeLine: 3, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!18 = !DILocation(line: 17, column: 1, scope: !19, inlinedAt: !21)
!19 = distinct !DISubprogram(name: "gx", scope: !20, file: !20, line: 17, type: !13, scopeLine: 17, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!20 = !DIFile(filename: "prelude.h", directory: "kernels")
!21 = distinct !DILocation(line: 5, column: 19, scope: !17)
!22 = !DILocation(line: 6, column: 19, scope: !17)
!23 = !DILocation(line: 6, column: 17, scope: !17)
!24 = !DILocation(line: 6, column: 25, scope: !17)
!25 = !{!26, !26, i64 0}
!26 = !{!"float", !10, i64 0}
!27 = !DILocation(line: 6, column: 5, scope: !17)
!28 = !DILocation(line: 6, column: 15, scope: !17)
!29 = !DILocation(line: 7, column: 5, scope: !17)
!30 = !DILocation(line: 9, column: 5, scope: !17)
!31 = !DILocation(line: 12, column: 11, scope: !17)
!32 = !DILocation(line: 10, column: 25, scope: !17)
!33 = !DILocation(line: 10, column: 16, scope: !17)
!34 = !DILocation(line: 10, column: 39, scope: !17)
!35 = !DILocation(line: 10, column: 30, scope: !17)
!36 = !DILocation(line: 10, column: 13, scope: !17)
!37 = !DILocation(line: 9, column: 29, scope: !17)
!38 = !DILocation(line: 9, column: 23, scope: !17)
!39 = distinct !{!39, !30, !40, !41, !42}
!40 = !DILocation(line: 11, column: 5, scope: !17)
!41 = !{!"llvm.loop.mustprogress"}
!42 = !{!"llvm.loop.unroll.disable"}
!43 = !DILocation(line: 13, column: 16, scope: !17)
!44 = !DILocation(line: 13, column: 30, scope: !17)
!45 = !DILocation(line: 13, column: 28, scope: !17)
!46 = !DILocation(line: 13, column: 14, scope: !17)
!47 = !DILocation(line: 14, column: 5, scope: !17)
!48 = !DILocation(line: 15, column: 1, scope: !17)
