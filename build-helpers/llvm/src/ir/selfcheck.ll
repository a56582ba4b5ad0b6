; One of each enumerator that kernelmill reads through LLVM's C interface, in the order that
; selfcheck.rs expects. LLVM 20 reads it.

declare void @types(half, float, double, fp128, i32, { i32 }, [2 x i32], ptr, <2 x i32>, <vscale x 2 x i32>, bfloat)

@external = global i32 0
@internal = internal global i32 0
@private = private global i32 0
@linkonce_odr = linkonce_odr global i32 0
@weak = weak global i32 0
@common = common global i32 0
@hidden = hidden local_unnamed_addr global i32 0
@protected = protected unnamed_addr global i32 0

declare i32 @personality(...)
declare void @callee()
declare ptx_kernel void @ptx()
declare amdgpu_kernel void @amdgpu()

define i32 @instructions(ptr %p, i32 %i, i64 %l, float %f, double %d, <2 x i32> %v, { i32, i32 } %s) personality ptr @personality !dbg !3 {
  %alloca = alloca i32, !dbg !6
  store i32 %i, ptr %alloca
  %load = load i32, ptr %p
  %gep = getelementptr i8, ptr %p, i64 %l
  fence acquire
  %cmpxchg = cmpxchg ptr %p, i32 %i, i32 %i monotonic monotonic
  %add = add i32 %i, %load
  %sub = sub i32 %i, %add
  %mul = mul i32 %i, %sub
  %udiv = udiv i32 %i, %mul
  %sdiv = sdiv i32 %i, %udiv
  %urem = urem i32 %i, %sdiv
  %srem = srem i32 %i, %urem
  %shl = shl i32 %i, %srem
  %lshr = lshr i32 %i, %shl
  %ashr = ashr i32 %i, %lshr
  %and = and i32 %i, %ashr
  %or = or i32 %i, %and
  %xor = xor i32 %i, %or
  %fneg = fneg float %f
  %fadd = fadd contract float %f, %fneg
  %fsub = fsub nsz float %f, %fadd
  %fmul = fmul fast float %f, %fsub
  %fdiv = fdiv float %f, %fmul
  %frem = frem float %f, %fdiv
  %trunc = trunc i64 %l to i32
  %zext = zext i32 %i to i64
  %sext = sext i32 %i to i64
  %fptoui = fptoui float %f to i32
  %fptosi = fptosi float %f to i32
  %uitofp = uitofp i32 %i to float
  %sitofp = sitofp i32 %i to float
  %fptrunc = fptrunc double %d to float
  %fpext = fpext float %f to double
  %ptrtoint = ptrtoint ptr %p to i64
  %inttoptr = inttoptr i64 %l to ptr
  %bitcast = bitcast float %f to i32
  %addrspacecast = addrspacecast ptr %p to ptr addrspace(3)
  %icmp = icmp eq i32 %i, 0
  %fcmp = fcmp oeq float %f, 0.0
  %select = select i1 %icmp, i32 %i, i32 0
  %freeze = freeze i32 %i
  %extractelement = extractelement <2 x i32> %v, i32 0
  %insertelement = insertelement <2 x i32> %v, i32 %i, i32 0
  %shufflevector = shufflevector <2 x i32> %v, <2 x i32> %v, <2 x i32> <i32 0, i32 3>
  %extractvalue = extractvalue { i32, i32 } %s, 0
  %insertvalue = insertvalue { i32, i32 } %s, i32 %i, 0
  call void asm inteldialect "", ""()
  call void asm "", ""()
  br i1 %icmp, label %first, label %second
first:
  switch i32 %i, label %second [ i32 7, label %third ]
second:
  br label %third
third:
  %phi = phi i32 [ %i, %first ], [ 0, %second ]
  invoke void @callee() to label %fourth unwind label %pad
fourth:
  ret i32 %phi
pad:
  %landingpad = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %landingpad
dead:
  unreachable
}

define void @comparisons(i32 %i, float %f) {
  %eq = icmp eq i32 %i, 0
  %ne = icmp ne i32 %i, 0
  %ugt = icmp ugt i32 %i, 0
  %uge = icmp uge i32 %i, 0
  %ult = icmp ult i32 %i, 0
  %ule = icmp ule i32 %i, 0
  %sgt = icmp sgt i32 %i, 0
  %sge = icmp sge i32 %i, 0
  %slt = icmp slt i32 %i, 0
  %sle = icmp sle i32 %i, 0
  %false = fcmp false float %f, 0.0
  %foeq = fcmp oeq float %f, 0.0
  %fogt = fcmp ogt float %f, 0.0
  %foge = fcmp oge float %f, 0.0
  %folt = fcmp olt float %f, 0.0
  %fole = fcmp ole float %f, 0.0
  %fone = fcmp one float %f, 0.0
  %ford = fcmp ord float %f, 0.0
  %funo = fcmp uno float %f, 0.0
  %fueq = fcmp ueq float %f, 0.0
  %fugt = fcmp ugt float %f, 0.0
  %fuge = fcmp uge float %f, 0.0
  %fult = fcmp ult float %f, 0.0
  %fule = fcmp ule float %f, 0.0
  %fune = fcmp une float %f, 0.0
  %true = fcmp true float %f, 0.0
  ret void
}

define void @atomics(ptr %p, i32 %i, float %f) {
  %xchg = atomicrmw xchg ptr %p, i32 %i monotonic
  %add = atomicrmw add ptr %p, i32 %i monotonic
  %sub = atomicrmw sub ptr %p, i32 %i monotonic
  %and = atomicrmw and ptr %p, i32 %i monotonic
  %nand = atomicrmw nand ptr %p, i32 %i monotonic
  %or = atomicrmw or ptr %p, i32 %i monotonic
  %xor = atomicrmw xor ptr %p, i32 %i monotonic
  %max = atomicrmw max ptr %p, i32 %i monotonic
  %min = atomicrmw min ptr %p, i32 %i monotonic
  %umax = atomicrmw umax ptr %p, i32 %i monotonic
  %umin = atomicrmw umin ptr %p, i32 %i monotonic
  %fadd = atomicrmw fadd ptr %p, float %f monotonic
  %fsub = atomicrmw fsub ptr %p, float %f monotonic
  %fmax = atomicrmw fmax ptr %p, float %f monotonic
  %fmin = atomicrmw fmin ptr %p, float %f monotonic
  %uinc = atomicrmw uinc_wrap ptr %p, i32 %i monotonic
  %udec = atomicrmw udec_wrap ptr %p, i32 %i monotonic
  ret void
}

define void @orderings(ptr %p) {
  %plain = load i32, ptr %p
  %unordered = load atomic i32, ptr %p unordered, align 4
  %monotonic = load atomic i32, ptr %p monotonic, align 4
  %acquire = load atomic i32, ptr %p acquire, align 4
  %sequential = load atomic i32, ptr %p seq_cst, align 4
  ret void
}

!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C, file: !2, emissionKind: LineTablesOnly)
!2 = !DIFile(filename: "selfcheck", directory: "")
!3 = distinct !DISubprogram(name: "instructions", file: !2, line: 1, type: !4, unit: !1, spFlags: DISPFlagDefinition)
!4 = !DISubroutineType(types: !5)
!5 = !{null}
!6 = !DILocation(line: 1, column: 1, scope: !3)
