; Kernels as another compiler of NVIDIA's machine may write them: marked in `nvvm.annotations`, with the intrinsics of
; older versions, and without debug information. The settings declare their parameters.
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%affine = type { double, i32, [2 x i16] }

@tile = internal addrspace(3) global [128 x float] undef, align 4
@weights = internal addrspace(4) constant [4 x float] [float 0.5, float 1.0, float 2.0, float 4.0]

; y[i] = a * x[i] + y[i]
define void @saxpy(float %a, ptr %x, ptr %y, i32 %n) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %block, %size
  %i = add i32 %first, %tid
  %inside = icmp ult i32 %i, %n
  br i1 %inside, label %body, label %end
body:
  %px = getelementptr float, ptr %x, i32 %i
  %py = getelementptr float, ptr %y, i32 %i
  %vx = load float, ptr %px
  %vy = load float, ptr %py
  %product = fmul float %a, %vx
  %sum = fadd float %product, %vy
  store float %sum, ptr %py
  br label %end
end:
  ret void
}

; Weighted sums of blocks of 128.
define void @block_sums(ptr addrspace(1) %x, ptr addrspace(1) %sums) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %first = mul i32 %block, 128
  %i = add i32 %first, %tid
  %px = getelementptr float, ptr addrspace(1) %x, i32 %i
  %vx = load float, ptr addrspace(1) %px
  %quarter = urem i32 %tid, 4
  %pw = getelementptr float, ptr addrspace(4) @weights, i32 %quarter
  %weight = load float, ptr addrspace(4) %pw
  %value = fmul float %vx, %weight
  %mine = getelementptr float, ptr addrspace(3) @tile, i32 %tid
  store float %value, ptr addrspace(3) %mine
  call void @llvm.nvvm.barrier0()
  br label %loop
loop:
  %half = phi i32 [ 64, %0 ], [ %next, %joined ]
  %adds = icmp ult i32 %tid, %half
  br i1 %adds, label %add, label %joined
add:
  %other = add i32 %tid, %half
  %theirs = getelementptr float, ptr addrspace(3) @tile, i32 %other
  %left = load float, ptr addrspace(3) %mine
  %right = load float, ptr addrspace(3) %theirs
  %both = fadd float %left, %right
  store float %both, ptr addrspace(3) %mine
  br label %joined
joined:
  call void @llvm.nvvm.barrier0()
  %next = lshr i32 %half, 1
  %goes.on = icmp ne i32 %next, 0
  br i1 %goes.on, label %loop, label %done
done:
  %is.first = icmp eq i32 %tid, 0
  br i1 %is.first, label %write, label %end
write:
  %sum = load float, ptr addrspace(3) @tile
  %ps = getelementptr float, ptr addrspace(1) %sums, i32 %block
  store float %sum, ptr addrspace(1) %ps
  br label %end
end:
  ret void
}

; A name that only LLVM takes, a struct by value, a vector, and a truth value.
define void @"by.value"(ptr byval(%affine) align 8 %p, <2 x float> %v, i1 zeroext %negate, ptr %out) {
  %scale = load double, ptr %p
  %shift.at = getelementptr %affine, ptr %p, i32 0, i32 1
  %shift = load i32, ptr %shift.at
  %last.at = getelementptr %affine, ptr %p, i32 0, i32 2, i32 1
  %last = load i16, ptr %last.at
  %v0 = sitofp i32 %shift to double
  %v1 = sitofp i16 %last to double
  %v2 = extractelement <2 x float> %v, i32 0
  %v3 = extractelement <2 x float> %v, i32 1
  %v4 = fmul float %v2, %v3
  %v5 = fpext float %v4 to double
  %v6 = fmul double %scale, %v5
  %v7 = fadd double %v6, %v0
  %v8 = fadd double %v7, %v1
  %v9 = fneg double %v8
  %v10 = select i1 %negate, double %v9, double %v8
  store double %v10, ptr %out
  ret void
}

; The launch gives the size of the shared memory.
define ptx_kernel void @reversed(ptr addrspace(3) %words, ptr %x) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %px = getelementptr i32, ptr %x, i32 %tid
  %value = load i32, ptr %px
  %mine = getelementptr i32, ptr addrspace(3) %words, i32 %tid
  store i32 %value, ptr addrspace(3) %mine
  call void @llvm.nvvm.barrier0()
  %last = sub i32 %size, 1
  %other = sub i32 %last, %tid
  %theirs = getelementptr i32, ptr addrspace(3) %words, i32 %other
  %result = load i32, ptr addrspace(3) %theirs
  store i32 %result, ptr %px
  ret void
}

; Inline assembly is for NVIDIA's targets alone, which the settings say.
define ptx_kernel void @lanes(ptr %out) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %lane = call i32 asm "mov.u32 $0, %laneid;", "=r"()
  %at = getelementptr i32, ptr %out, i32 %tid
  store i32 %lane, ptr %at
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare void @llvm.nvvm.barrier0()

!nvvm.annotations = !{!0, !1, !2, !3}
!0 = !{ptr @saxpy, !"kernel", i32 1}
!1 = !{ptr @block_sums, !"kernel", i32 1}
!2 = !{ptr @"by.value", !"kernel", i32 1}
!3 = !{ptr @block_sums, !"reqntidx", i32 128}
