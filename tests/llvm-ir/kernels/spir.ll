source_filename = "spir.cl"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64-unknown-unknown"

%struct.pair = type { float, i32 }

; Function Attrs: convergent norecurse nounwind
define dso_local spir_kernel void @cl_sums(ptr addrspace(1) noundef readonly align 4 %0, ptr addrspace(2) noundef readonly align 4 %1, ptr addrspace(1) noundef writeonly align 4 %2, ptr addrspace(3) noundef align 4 %3, i32 noundef %4) local_unnamed_addr #0 !dbg !12 !kernel_arg_addr_space !30 !kernel_arg_access_qual !31 !kernel_arg_type !32 !kernel_arg_base_type !32 !kernel_arg_type_qual !33 {
    #dbg_value(ptr addrspace(1) %0, !25, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !34)
    #dbg_value(ptr addrspace(2) %1, !26, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !34)
    #dbg_value(ptr addrspace(1) %2, !27, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !34)
    #dbg_value(ptr addrspace(3) %3, !28, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !34)
    #dbg_value(i32 %4, !29, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !34)
    #dbg_value(ptr addrspace(1) %0, !35, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !48)
    #dbg_value(ptr addrspace(2) %1, !38, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !48)
    #dbg_value(ptr addrspace(1) %2, !39, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !48)
    #dbg_value(ptr addrspace(3) %3, !40, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !48)
    #dbg_value(i32 %4, !41, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !48)
  %6 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #7, !dbg !50
    #dbg_value(i64 %6, !42, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !48)
  %7 = tail call spir_func i64 @_Z12get_local_idj(i32 noundef 0) #7, !dbg !51
    #dbg_value(i64 %7, !45, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !48)
  %8 = zext i32 %4 to i64, !dbg !52
  %9 = icmp ult i64 %6, %8, !dbg !53
  br i1 %9, label %10, label %17, !dbg !54

10:                                               ; preds = %5
  %11 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %6, !dbg !55
  %12 = load float, ptr addrspace(1) %11, align 4, !dbg !55, !tbaa !56
  %13 = and i64 %7, 3, !dbg !58
  %14 = getelementptr inbounds nuw float, ptr addrspace(2) %1, i64 %13, !dbg !59
  %15 = load float, ptr addrspace(2) %14, align 4, !dbg !59, !tbaa !56
  %16 = fmul float %12, %15, !dbg !60
  br label %17, !dbg !54

17:                                               ; preds = %10, %5
  %18 = phi float [ %16, %10 ], [ 0.000000e+00, %5 ], !dbg !54
  %19 = getelementptr inbounds nuw float, ptr addrspace(3) %3, i64 %7, !dbg !61
  store float %18, ptr addrspace(3) %19, align 4, !dbg !62, !tbaa !56
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #8, !dbg !63
  %20 = tail call spir_func i64 @_Z14get_local_sizej(i32 noundef 0) #7, !dbg !64
    #dbg_value(i64 %20, !46, !DIExpression(DW_OP_constu, 1, DW_OP_shr, DW_OP_lit0, DW_OP_swap, DW_OP_xderef, DW_OP_stack_value), !65)
  %21 = lshr i64 %20, 1, !dbg !66
  %22 = icmp eq i64 %21, 0, !dbg !67
  br i1 %22, label %23, label %25, !dbg !69

23:                                               ; preds = %33, %17
  %24 = icmp eq i64 %7, 0, !dbg !70
  br i1 %24, label %36, label %40, !dbg !70

25:                                               ; preds = %17, %33
  %26 = phi i64 [ %34, %33 ], [ %21, %17 ]
  %27 = icmp ult i64 %7, %26, !dbg !72
  br i1 %27, label %28, label %33, !dbg !72

28:                                               ; preds = %25
  %29 = getelementptr inbounds nuw float, ptr addrspace(3) %19, i64 %26, !dbg !75
  %30 = load float, ptr addrspace(3) %29, align 4, !dbg !75, !tbaa !56
  %31 = load float, ptr addrspace(3) %19, align 4, !dbg !76, !tbaa !56
  %32 = fadd float %30, %31, !dbg !76
  store float %32, ptr addrspace(3) %19, align 4, !dbg !76, !tbaa !56
  br label %33, !dbg !77

33:                                               ; preds = %28, %25
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #8, !dbg !78
    #dbg_value(i64 %26, !46, !DIExpression(DW_OP_constu, 1, DW_OP_shr, DW_OP_lit0, DW_OP_swap, DW_OP_xderef, DW_OP_stack_value), !65)
  %34 = lshr i64 %26, 1, !dbg !66
    #dbg_value(i64 %34, !46, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !65)
  %35 = icmp eq i64 %34, 0, !dbg !67
  br i1 %35, label %23, label %25, !dbg !69, !llvm.loop !79

36:                                               ; preds = %23
  %37 = load float, ptr addrspace(3) %3, align 4, !dbg !82, !tbaa !56
  %38 = tail call spir_func i64 @_Z12get_group_idj(i32 noundef 0) #7, !dbg !83
  %39 = getelementptr inbounds nuw float, ptr addrspace(1) %2, i64 %38, !dbg !84
  store float %37, ptr addrspace(1) %39, align 4, !dbg !85, !tbaa !56
  br label %40, !dbg !84

40:                                               ; preds = %23, %36
  ret void, !dbg !86
}

; Function Attrs: alwaysinline convergent norecurse nounwind
define dso_local spir_func void @__clang_ocl_kern_imp_cl_sums(ptr addrspace(1) noundef readonly align 4 %0, ptr addrspace(2) noundef readonly align 4 %1, ptr addrspace(1) noundef writeonly align 4 %2, ptr addrspace(3) noundef align 4 %3, i32 noundef %4) local_unnamed_addr #1 !dbg !36 !kernel_arg_addr_space !30 !kernel_arg_access_qual !31 !kernel_arg_type !32 !kernel_arg_base_type !32 !kernel_arg_type_qual !33 {
    #dbg_value(ptr addrspace(1) %0, !35, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !87)
    #dbg_value(ptr addrspace(2) %1, !38, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !87)
    #dbg_value(ptr addrspace(1) %2, !39, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !87)
    #dbg_value(ptr addrspace(3) %3, !40, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !87)
    #dbg_value(i32 %4, !41, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !87)
  %6 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #7, !dbg !88
    #dbg_value(i64 %6, !42, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !87)
  %7 = tail call spir_func i64 @_Z12get_local_idj(i32 noundef 0) #7, !dbg !89
    #dbg_value(i64 %7, !45, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !87)
  %8 = zext i32 %4 to i64, !dbg !90
  %9 = icmp ult i64 %6, %8, !dbg !91
  br i1 %9, label %10, label %17, !dbg !92

10:                                               ; preds = %5
  %11 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %6, !dbg !93
  %12 = load float, ptr addrspace(1) %11, align 4, !dbg !93, !tbaa !56
  %13 = and i64 %7, 3, !dbg !94
  %14 = getelementptr inbounds nuw float, ptr addrspace(2) %1, i64 %13, !dbg !95
  %15 = load float, ptr addrspace(2) %14, align 4, !dbg !95, !tbaa !56
  %16 = fmul float %12, %15, !dbg !96
  br label %17, !dbg !92

17:                                               ; preds = %5, %10
  %18 = phi float [ %16, %10 ], [ 0.000000e+00, %5 ], !dbg !92
  %19 = getelementptr inbounds nuw float, ptr addrspace(3) %3, i64 %7, !dbg !97
  store float %18, ptr addrspace(3) %19, align 4, !dbg !98, !tbaa !56
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #8, !dbg !99
  %20 = tail call spir_func i64 @_Z14get_local_sizej(i32 noundef 0) #7, !dbg !100
    #dbg_value(i64 %20, !46, !DIExpression(DW_OP_constu, 1, DW_OP_shr, DW_OP_lit0, DW_OP_swap, DW_OP_xderef, DW_OP_stack_value), !101)
  %21 = lshr i64 %20, 1, !dbg !102
  %22 = icmp eq i64 %21, 0, !dbg !103
  br i1 %22, label %23, label %25, !dbg !104

23:                                               ; preds = %33, %17
  %24 = icmp eq i64 %7, 0, !dbg !105
  br i1 %24, label %36, label %40, !dbg !105

25:                                               ; preds = %17, %33
  %26 = phi i64 [ %34, %33 ], [ %21, %17 ]
  %27 = icmp ult i64 %7, %26, !dbg !106
  br i1 %27, label %28, label %33, !dbg !106

28:                                               ; preds = %25
  %29 = getelementptr inbounds nuw float, ptr addrspace(3) %19, i64 %26, !dbg !107
  %30 = load float, ptr addrspace(3) %29, align 4, !dbg !107, !tbaa !56
  %31 = load float, ptr addrspace(3) %19, align 4, !dbg !108, !tbaa !56
  %32 = fadd float %30, %31, !dbg !108
  store float %32, ptr addrspace(3) %19, align 4, !dbg !108, !tbaa !56
  br label %33, !dbg !109

33:                                               ; preds = %28, %25
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #8, !dbg !110
    #dbg_value(i64 %26, !46, !DIExpression(DW_OP_constu, 1, DW_OP_shr, DW_OP_lit0, DW_OP_swap, DW_OP_xderef, DW_OP_stack_value), !101)
  %34 = lshr i64 %26, 1, !dbg !102
    #dbg_value(i64 %34, !46, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !101)
  %35 = icmp eq i64 %34, 0, !dbg !103
  br i1 %35, label %23, label %25, !dbg !104, !llvm.loop !111

36:                                               ; preds = %23
  %37 = load float, ptr addrspace(3) %3, align 4, !dbg !113, !tbaa !56
  %38 = tail call spir_func i64 @_Z12get_group_idj(i32 noundef 0) #7, !dbg !114
  %39 = getelementptr inbounds nuw float, ptr addrspace(1) %2, i64 %38, !dbg !115
  store float %37, ptr addrspace(1) %39, align 4, !dbg !116, !tbaa !56
  br label %40, !dbg !115

40:                                               ; preds = %36, %23
  ret void, !dbg !117
}

; Function Attrs: convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite)
define dso_local spir_kernel void @cl_pairs(ptr addrspace(1) noundef writeonly align 4 %0, ptr noundef readonly byval(%struct.pair) align 4 %1, <4 x float> noundef %2) local_unnamed_addr #2 !dbg !118 !kernel_arg_addr_space !135 !kernel_arg_access_qual !136 !kernel_arg_type !137 !kernel_arg_base_type !138 !kernel_arg_type_qual !139 {
    #dbg_value(ptr addrspace(1) %0, !132, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !140)
    #dbg_declare(ptr %1, !133, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !141)
    #dbg_value(<4 x float> %2, !134, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !140)
  %4 = load float, ptr %1, align 4, !dbg !142
  %5 = getelementptr inbounds nuw i8, ptr %1, i64 4, !dbg !142
  %6 = load i32, ptr %5, align 4, !dbg !142
    #dbg_value(ptr addrspace(1) %0, !145, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !150)
    #dbg_value(<4 x float> %2, !147, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !150)
  %7 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #7, !dbg !142
    #dbg_value(i64 %7, !148, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !150)
  %8 = sitofp i32 %6 to float, !dbg !151
  %9 = extractelement <4 x float> %2, i64 0, !dbg !152
  %10 = tail call float @llvm.fmuladd.f32(float %4, float %8, float %9), !dbg !153
  %11 = extractelement <4 x float> %2, i64 3, !dbg !154
  %12 = fadd float %11, %10, !dbg !155
  %13 = uitofp i64 %7 to float, !dbg !156
  %14 = fadd float %12, %13, !dbg !157
  %15 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %7, !dbg !158
  store float %14, ptr addrspace(1) %15, align 4, !dbg !159, !tbaa !56
  ret void, !dbg !160
}

; Function Attrs: alwaysinline convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite)
define dso_local spir_func void @__clang_ocl_kern_imp_cl_pairs(ptr addrspace(1) noundef writeonly align 4 %0, ptr noundef readonly byval(%struct.pair) align 4 %1, <4 x float> noundef %2) local_unnamed_addr #3 !dbg !143 !kernel_arg_addr_space !135 !kernel_arg_access_qual !136 !kernel_arg_type !137 !kernel_arg_base_type !138 !kernel_arg_type_qual !139 {
    #dbg_value(ptr addrspace(1) %0, !145, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !161)
    #dbg_declare(ptr %1, !146, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !162)
    #dbg_value(<4 x float> %2, !147, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !161)
  %4 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #7, !dbg !163
    #dbg_value(i64 %4, !148, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !161)
  %5 = load float, ptr %1, align 4, !dbg !164, !tbaa !165
  %6 = getelementptr inbounds nuw i8, ptr %1, i64 4, !dbg !167
  %7 = load i32, ptr %6, align 4, !dbg !167, !tbaa !168
  %8 = sitofp i32 %7 to float, !dbg !169
  %9 = extractelement <4 x float> %2, i64 0, !dbg !170
  %10 = tail call float @llvm.fmuladd.f32(float %5, float %8, float %9), !dbg !171
  %11 = extractelement <4 x float> %2, i64 3, !dbg !172
  %12 = fadd float %11, %10, !dbg !173
  %13 = uitofp i64 %4 to float, !dbg !174
  %14 = fadd float %12, %13, !dbg !175
  %15 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %4, !dbg !176
  store float %14, ptr addrspace(1) %15, align 4, !dbg !177, !tbaa !56
  ret void, !dbg !178
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !179 dso_local spir_func i64 @_Z13get_global_idj(i32 noundef) local_unnamed_addr #4

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !182 dso_local spir_func i64 @_Z12get_local_idj(i32 noundef) local_unnamed_addr #4

; Function Attrs: convergent nounwind
declare !dbg !183 dso_local spir_func void @_Z7barrierj(i32 noundef) local_unnamed_addr #5

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !187 dso_local spir_func i64 @_Z14get_local_sizej(i32 noundef) local_unnamed_addr #4

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !188 dso_local spir_func i64 @_Z12get_group_idj(i32 noundef) local_unnamed_addr #4

; Function Attrs: mustprogress nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.fmuladd.f32(float, float, float) #6

attributes #0 = { convergent norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #1 = { alwaysinline convergent norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #2 = { convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #3 = { alwaysinline convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #4 = { convergent mustprogress nofree nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #5 = { convergent nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #6 = { mustprogress nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #7 = { convergent nounwind willreturn memory(none) }
attributes #8 = { convergent nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5}
!opencl.ocl.version = !{!6}
!opencl.spir.version = !{!6}

!0 = distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !1, producer: "clang", isOptimized: true, runtimeVersion: 0, emissionKind: FullDebug, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "spir.cl", directory: ".", checksumkind: CSK_MD5, checksum: "c98c373c3f633bad847107f5c0c86004")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 7, !"frame-pointer", i32 2}
!6 = !{i32 2, i32 0}
!8 = !{!9, !9, i64 0}
!9 = !{!"int", !10, i64 0}
!10 = !{!"omnipotent char", !11, i64 0}
!11 = !{!"Simple C/C++ TBAA"}
!12 = distinct !DISubprogram(name: "cl_sums", scope: !1, file: !1, line: 2, type: !13, scopeLine: 2, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !24)
!13 = !DISubroutineType(cc: DW_CC_LLVM_DeviceKernel, types: !14)
!14 = !{null, !15, !18, !19, !20, !21}
!15 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !16, size: 64, dwarfAddressSpace: 1)
!16 = !DIDerivedType(tag: DW_TAG_const_type, baseType: !17)
!17 = !DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)
!18 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !17, size: 64, dwarfAddressSpace: 2)
!19 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !17, size: 64, dwarfAddressSpace: 1)
!20 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !17, size: 64, dwarfAddressSpace: 3)
!21 = !DIDerivedType(tag: DW_TAG_typedef, name: "uint", file: !22, line: 38, baseType: !23)
!22 = !DIFile(filename: "/usr/lib/llvm-22/lib/clang/22/include/opencl-c-base.h", directory: "", checksumkind: CSK_MD5, checksum: "be11a690c37450a0034f006875ffc62b")
!23 = !DIBasicType(name: "unsigned int", size: 32, encoding: DW_ATE_unsigned)
!24 = !{!25, !26, !27, !28, !29}
!25 = !DILocalVariable(name: "x", arg: 1, scope: !12, file: !1, line: 2, type: !15)
!26 = !DILocalVariable(name: "weights", arg: 2, scope: !12, file: !1, line: 2, type: !18)
!27 = !DILocalVariable(name: "sums", arg: 3, scope: !12, file: !1, line: 2, type: !19)
!28 = !DILocalVariable(name: "partial", arg: 4, scope: !12, file: !1, line: 2, type: !20)
!29 = !DILocalVariable(name: "n", arg: 5, scope: !12, file: !1, line: 2, type: !21)
!30 = !{i32 1, i32 2, i32 1, i32 3, i32 0}
!31 = !{!"none", !"none", !"none", !"none", !"none"}
!32 = !{!"float*", !"float*", !"float*", !"float*", !"uint"}
!33 = !{!"const", !"const", !"", !"", !""}
!34 = !DILocation(line: 0, scope: !12)
!35 = !DILocalVariable(name: "x", arg: 1, scope: !36, file: !1, line: 2, type: !15)
!36 = distinct !DISubprogram(name: "cl_sums", linkageName: "__clang_ocl_kern_imp_cl_sums", scope: !1, file: !1, line: 2, type: !13, scopeLine: 2, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !37)
!37 = !{!35, !38, !39, !40, !41, !42, !45, !46}
!38 = !DILocalVariable(name: "weights", arg: 2, scope: !36, file: !1, line: 2, type: !18)
!39 = !DILocalVariable(name: "sums", arg: 3, scope: !36, file: !1, line: 2, type: !19)
!40 = !DILocalVariable(name: "partial", arg: 4, scope: !36, file: !1, line: 2, type: !20)
!41 = !DILocalVariable(name: "n", arg: 5, scope: !36, file: !1, line: 2, type: !21)
!42 = !DILocalVariable(name: "i", scope: !36, file: !1, line: 3, type: !43)
!43 = !DIDerivedType(tag: DW_TAG_typedef, name: "size_t", file: !22, line: 51, baseType: !44)
!44 = !DIBasicType(name: "unsigned long", size: 64, encoding: DW_ATE_unsigned)
!45 = !DILocalVariable(name: "lane", scope: !36, file: !1, line: 3, type: !43)
!46 = !DILocalVariable(name: "size", scope: !47, file: !1, line: 6, type: !43)
!47 = distinct !DILexicalBlock(scope: !36, file: !1, line: 6, column: 3)
!48 = !DILocation(line: 0, scope: !36, inlinedAt: !49)
!49 = distinct !DILocation(line: 2, column: 119, scope: !12)
!50 = !DILocation(line: 3, column: 14, scope: !36, inlinedAt: !49)
!51 = !DILocation(line: 3, column: 39, scope: !36, inlinedAt: !49)
!52 = !DILocation(line: 4, column: 23, scope: !36, inlinedAt: !49)
!53 = !DILocation(line: 4, column: 21, scope: !36, inlinedAt: !49)
!54 = !DILocation(line: 4, column: 19, scope: !36, inlinedAt: !49)
!55 = !DILocation(line: 4, column: 27, scope: !36, inlinedAt: !49)
!56 = !{!57, !57, i64 0}
!57 = !{!"float", !10, i64 0}
!58 = !DILocation(line: 4, column: 47, scope: !36, inlinedAt: !49)
!59 = !DILocation(line: 4, column: 34, scope: !36, inlinedAt: !49)
!60 = !DILocation(line: 4, column: 32, scope: !36, inlinedAt: !49)
!61 = !DILocation(line: 4, column: 3, scope: !36, inlinedAt: !49)
!62 = !DILocation(line: 4, column: 17, scope: !36, inlinedAt: !49)
!63 = !DILocation(line: 5, column: 3, scope: !36, inlinedAt: !49)
!64 = !DILocation(line: 6, column: 22, scope: !47, inlinedAt: !49)
!65 = !DILocation(line: 0, scope: !47, inlinedAt: !49)
!66 = !DILocation(line: 6, scope: !47, inlinedAt: !49)
!67 = !DILocation(line: 6, column: 50, scope: !68, inlinedAt: !49)
!68 = distinct !DILexicalBlock(scope: !47, file: !1, line: 6, column: 3)
!69 = !DILocation(line: 6, column: 3, scope: !47, inlinedAt: !49)
!70 = !DILocation(line: 10, column: 12, scope: !71, inlinedAt: !49)
!71 = distinct !DILexicalBlock(scope: !36, file: !1, line: 10, column: 7)
!72 = !DILocation(line: 7, column: 14, scope: !73, inlinedAt: !49)
!73 = distinct !DILexicalBlock(scope: !74, file: !1, line: 7, column: 9)
!74 = distinct !DILexicalBlock(scope: !68, file: !1, line: 6, column: 66)
!75 = !DILocation(line: 7, column: 39, scope: !73, inlinedAt: !49)
!76 = !DILocation(line: 7, column: 36, scope: !73, inlinedAt: !49)
!77 = !DILocation(line: 7, column: 22, scope: !73, inlinedAt: !49)
!78 = !DILocation(line: 8, column: 5, scope: !74, inlinedAt: !49)
!79 = distinct !{!79, !69, !80, !81}
!80 = !DILocation(line: 9, column: 3, scope: !47, inlinedAt: !49)
!81 = !{!"llvm.loop.unroll.disable"}
!82 = !DILocation(line: 10, column: 42, scope: !71, inlinedAt: !49)
!83 = !DILocation(line: 10, column: 23, scope: !71, inlinedAt: !49)
!84 = !DILocation(line: 10, column: 18, scope: !71, inlinedAt: !49)
!85 = !DILocation(line: 10, column: 40, scope: !71, inlinedAt: !49)
!86 = !DILocation(line: 11, column: 1, scope: !12)
!87 = !DILocation(line: 0, scope: !36)
!88 = !DILocation(line: 3, column: 14, scope: !36)
!89 = !DILocation(line: 3, column: 39, scope: !36)
!90 = !DILocation(line: 4, column: 23, scope: !36)
!91 = !DILocation(line: 4, column: 21, scope: !36)
!92 = !DILocation(line: 4, column: 19, scope: !36)
!93 = !DILocation(line: 4, column: 27, scope: !36)
!94 = !DILocation(line: 4, column: 47, scope: !36)
!95 = !DILocation(line: 4, column: 34, scope: !36)
!96 = !DILocation(line: 4, column: 32, scope: !36)
!97 = !DILocation(line: 4, column: 3, scope: !36)
!98 = !DILocation(line: 4, column: 17, scope: !36)
!99 = !DILocation(line: 5, column: 3, scope: !36)
!100 = !DILocation(line: 6, column: 22, scope: !47)
!101 = !DILocation(line: 0, scope: !47)
!102 = !DILocation(line: 6, scope: !47)
!103 = !DILocation(line: 6, column: 50, scope: !68)
!104 = !DILocation(line: 6, column: 3, scope: !47)
!105 = !DILocation(line: 10, column: 12, scope: !71)
!106 = !DILocation(line: 7, column: 14, scope: !73)
!107 = !DILocation(line: 7, column: 39, scope: !73)
!108 = !DILocation(line: 7, column: 36, scope: !73)
!109 = !DILocation(line: 7, column: 22, scope: !73)
!110 = !DILocation(line: 8, column: 5, scope: !74)
!111 = distinct !{!111, !104, !112, !81}
!112 = !DILocation(line: 9, column: 3, scope: !47)
!113 = !DILocation(line: 10, column: 42, scope: !71)
!114 = !DILocation(line: 10, column: 23, scope: !71)
!115 = !DILocation(line: 10, column: 18, scope: !71)
!116 = !DILocation(line: 10, column: 40, scope: !71)
!117 = !DILocation(line: 11, column: 1, scope: !36)
!118 = distinct !DISubprogram(name: "cl_pairs", scope: !1, file: !1, line: 12, type: !119, scopeLine: 12, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !131)
!119 = !DISubroutineType(cc: DW_CC_LLVM_DeviceKernel, types: !120)
!120 = !{null, !19, !121, !127}
!121 = !DIDerivedType(tag: DW_TAG_typedef, name: "pair", file: !1, line: 1, baseType: !122)
!122 = distinct !DICompositeType(tag: DW_TAG_structure_type, file: !1, line: 1, size: 64, elements: !123)
!123 = !{!124, !125}
!124 = !DIDerivedType(tag: DW_TAG_member, name: "a", scope: !122, file: !1, line: 1, baseType: !17, size: 32)
!125 = !DIDerivedType(tag: DW_TAG_member, name: "b", scope: !122, file: !1, line: 1, baseType: !126, size: 32, offset: 32)
!126 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!127 = !DIDerivedType(tag: DW_TAG_typedef, name: "float4", file: !22, line: 118, baseType: !128)
!128 = !DICompositeType(tag: DW_TAG_array_type, baseType: !17, size: 128, flags: DIFlagVector, elements: !129)
!129 = !{!130}
!130 = !DISubrange(count: 4)
!131 = !{!132, !133, !134}
!132 = !DILocalVariable(name: "out", arg: 1, scope: !118, file: !1, line: 12, type: !19)
!133 = !DILocalVariable(name: "p", arg: 2, scope: !118, file: !1, line: 12, type: !121)
!134 = !DILocalVariable(name: "v", arg: 3, scope: !118, file: !1, line: 12, type: !127)
!135 = !{i32 1, i32 0, i32 0}
!136 = !{!"none", !"none", !"none"}
!137 = !{!"float*", !"pair", !"float4"}
!138 = !{!"float*", !"pair", !"float __attribute__((ext_vector_type(4)))"}
!139 = !{!"", !"", !""}
!140 = !DILocation(line: 0, scope: !118)
!141 = !DILocation(line: 12, column: 46, scope: !118)
!142 = !DILocation(line: 12, column: 72, scope: !143, inlinedAt: !149)
!143 = distinct !DISubprogram(name: "cl_pairs", linkageName: "__clang_ocl_kern_imp_cl_pairs", scope: !1, file: !1, line: 12, type: !119, scopeLine: 12, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !144)
!144 = !{!145, !146, !147, !148}
!145 = !DILocalVariable(name: "out", arg: 1, scope: !143, file: !1, line: 12, type: !19)
!146 = !DILocalVariable(name: "p", arg: 2, scope: !143, file: !1, line: 12, type: !121)
!147 = !DILocalVariable(name: "v", arg: 3, scope: !143, file: !1, line: 12, type: !127)
!148 = !DILocalVariable(name: "i", scope: !143, file: !1, line: 12, type: !43)
!149 = distinct !DILocation(line: 12, column: 59, scope: !118)
!150 = !DILocation(line: 0, scope: !143, inlinedAt: !149)
!151 = !DILocation(line: 12, column: 105, scope: !143, inlinedAt: !149)
!152 = !DILocation(line: 12, column: 111, scope: !143, inlinedAt: !149)
!153 = !DILocation(line: 12, column: 109, scope: !143, inlinedAt: !149)
!154 = !DILocation(line: 12, column: 117, scope: !143, inlinedAt: !149)
!155 = !DILocation(line: 12, column: 115, scope: !143, inlinedAt: !149)
!156 = !DILocation(line: 12, column: 123, scope: !143, inlinedAt: !149)
!157 = !DILocation(line: 12, column: 121, scope: !143, inlinedAt: !149)
!158 = !DILocation(line: 12, column: 90, scope: !143, inlinedAt: !149)
!159 = !DILocation(line: 12, column: 97, scope: !143, inlinedAt: !149)
!160 = !DILocation(line: 12, column: 126, scope: !118)
!161 = !DILocation(line: 0, scope: !143)
!162 = !DILocation(line: 12, column: 46, scope: !143)
!163 = !DILocation(line: 12, column: 72, scope: !143)
!164 = !DILocation(line: 12, column: 101, scope: !143)
!165 = !{!166, !57, i64 0}
!166 = !{!"", !57, i64 0, !9, i64 4}
!167 = !DILocation(line: 12, column: 107, scope: !143)
!168 = !{!166, !9, i64 4}
!169 = !DILocation(line: 12, column: 105, scope: !143)
!170 = !DILocation(line: 12, column: 111, scope: !143)
!171 = !DILocation(line: 12, column: 109, scope: !143)
!172 = !DILocation(line: 12, column: 117, scope: !143)
!173 = !DILocation(line: 12, column: 115, scope: !143)
!174 = !DILocation(line: 12, column: 123, scope: !143)
!175 = !DILocation(line: 12, column: 121, scope: !143)
!176 = !DILocation(line: 12, column: 90, scope: !143)
!177 = !DILocation(line: 12, column: 97, scope: !143)
!178 = !DILocation(line: 12, column: 126, scope: !143)
!179 = !DISubprogram(name: "get_global_id", linkageName: "_Z13get_global_idj", scope: !1, file: !1, line: 3, type: !180, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized)
!180 = !DISubroutineType(cc: DW_CC_LLVM_SpirFunction, types: !181)
!181 = !{!44, !23}
!182 = !DISubprogram(name: "get_local_id", linkageName: "_Z12get_local_idj", scope: !1, file: !1, line: 3, type: !180, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized)
!183 = !DISubprogram(name: "barrier", linkageName: "_Z7barrierj", scope: !1, file: !1, line: 5, type: !184, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized)
!184 = !DISubroutineType(cc: DW_CC_LLVM_SpirFunction, types: !185)
!185 = !{null, !186}
!186 = !DIDerivedType(tag: DW_TAG_typedef, name: "cl_mem_fence_flags", file: !22, line: 281, baseType: !21)
!187 = !DISubprogram(name: "get_local_size", linkageName: "_Z14get_local_sizej", scope: !1, file: !1, line: 6, type: !180, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized)
!188 = !DISubprogram(name: "get_group_id", linkageName: "_Z12get_group_idj", scope: !1, file: !1, line: 10, type: !180, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized)
