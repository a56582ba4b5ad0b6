; Products of matrices in shared memory by 128 threads, on sm_90a. The sums are in registers that the
; processor writes until they were waited for: each step hands them on.
define i32 @__kernelmill_wgmma_available() alwaysinline { ret i32 1 }
define i32 @__kernelmill_shared_address(ptr %p) alwaysinline { %s = addrspacecast ptr %p to ptr addrspace(3) %r = ptrtoint ptr addrspace(3) %s to i32 ret i32 %r }
define void @__kernelmill_wgmma_f16(ptr %sums, i64 %a, i64 %b) alwaysinline convergent {
  %c0 = load float, ptr %sums
  %p1 = getelementptr i8, ptr %sums, i64 4
  %c1 = load float, ptr %p1
  %p2 = getelementptr i8, ptr %sums, i64 8
  %c2 = load float, ptr %p2
  %p3 = getelementptr i8, ptr %sums, i64 12
  %c3 = load float, ptr %p3
  %p4 = getelementptr i8, ptr %sums, i64 16
  %c4 = load float, ptr %p4
  %p5 = getelementptr i8, ptr %sums, i64 20
  %c5 = load float, ptr %p5
  %p6 = getelementptr i8, ptr %sums, i64 24
  %c6 = load float, ptr %p6
  %p7 = getelementptr i8, ptr %sums, i64 28
  %c7 = load float, ptr %p7
  %p8 = getelementptr i8, ptr %sums, i64 32
  %c8 = load float, ptr %p8
  %p9 = getelementptr i8, ptr %sums, i64 36
  %c9 = load float, ptr %p9
  %p10 = getelementptr i8, ptr %sums, i64 40
  %c10 = load float, ptr %p10
  %p11 = getelementptr i8, ptr %sums, i64 44
  %c11 = load float, ptr %p11
  %p12 = getelementptr i8, ptr %sums, i64 48
  %c12 = load float, ptr %p12
  %p13 = getelementptr i8, ptr %sums, i64 52
  %c13 = load float, ptr %p13
  %p14 = getelementptr i8, ptr %sums, i64 56
  %c14 = load float, ptr %p14
  %p15 = getelementptr i8, ptr %sums, i64 60
  %c15 = load float, ptr %p15
  %p16 = getelementptr i8, ptr %sums, i64 64
  %c16 = load float, ptr %p16
  %p17 = getelementptr i8, ptr %sums, i64 68
  %c17 = load float, ptr %p17
  %p18 = getelementptr i8, ptr %sums, i64 72
  %c18 = load float, ptr %p18
  %p19 = getelementptr i8, ptr %sums, i64 76
  %c19 = load float, ptr %p19
  %p20 = getelementptr i8, ptr %sums, i64 80
  %c20 = load float, ptr %p20
  %p21 = getelementptr i8, ptr %sums, i64 84
  %c21 = load float, ptr %p21
  %p22 = getelementptr i8, ptr %sums, i64 88
  %c22 = load float, ptr %p22
  %p23 = getelementptr i8, ptr %sums, i64 92
  %c23 = load float, ptr %p23
  %p24 = getelementptr i8, ptr %sums, i64 96
  %c24 = load float, ptr %p24
  %p25 = getelementptr i8, ptr %sums, i64 100
  %c25 = load float, ptr %p25
  %p26 = getelementptr i8, ptr %sums, i64 104
  %c26 = load float, ptr %p26
  %p27 = getelementptr i8, ptr %sums, i64 108
  %c27 = load float, ptr %p27
  %p28 = getelementptr i8, ptr %sums, i64 112
  %c28 = load float, ptr %p28
  %p29 = getelementptr i8, ptr %sums, i64 116
  %c29 = load float, ptr %p29
  %p30 = getelementptr i8, ptr %sums, i64 120
  %c30 = load float, ptr %p30
  %p31 = getelementptr i8, ptr %sums, i64 124
  %c31 = load float, ptr %p31
  %d = call { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } asm sideeffect "wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {$0, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31}, $32, $33, 1, 1, 1, 0, 0; wgmma.commit_group.sync.aligned;", "=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,l,l,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,~{memory}"(i64 %a, i64 %b, float %c0, float %c1, float %c2, float %c3, float %c4, float %c5, float %c6, float %c7, float %c8, float %c9, float %c10, float %c11, float %c12, float %c13, float %c14, float %c15, float %c16, float %c17, float %c18, float %c19, float %c20, float %c21, float %c22, float %c23, float %c24, float %c25, float %c26, float %c27, float %c28, float %c29, float %c30, float %c31) convergent
  %d0 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 0
  store float %d0, ptr %sums
  %d1 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 1
  store float %d1, ptr %p1
  %d2 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 2
  store float %d2, ptr %p2
  %d3 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 3
  store float %d3, ptr %p3
  %d4 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 4
  store float %d4, ptr %p4
  %d5 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 5
  store float %d5, ptr %p5
  %d6 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 6
  store float %d6, ptr %p6
  %d7 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 7
  store float %d7, ptr %p7
  %d8 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 8
  store float %d8, ptr %p8
  %d9 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 9
  store float %d9, ptr %p9
  %d10 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 10
  store float %d10, ptr %p10
  %d11 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 11
  store float %d11, ptr %p11
  %d12 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 12
  store float %d12, ptr %p12
  %d13 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 13
  store float %d13, ptr %p13
  %d14 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 14
  store float %d14, ptr %p14
  %d15 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 15
  store float %d15, ptr %p15
  %d16 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 16
  store float %d16, ptr %p16
  %d17 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 17
  store float %d17, ptr %p17
  %d18 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 18
  store float %d18, ptr %p18
  %d19 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 19
  store float %d19, ptr %p19
  %d20 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 20
  store float %d20, ptr %p20
  %d21 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 21
  store float %d21, ptr %p21
  %d22 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 22
  store float %d22, ptr %p22
  %d23 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 23
  store float %d23, ptr %p23
  %d24 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 24
  store float %d24, ptr %p24
  %d25 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 25
  store float %d25, ptr %p25
  %d26 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 26
  store float %d26, ptr %p26
  %d27 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 27
  store float %d27, ptr %p27
  %d28 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 28
  store float %d28, ptr %p28
  %d29 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 29
  store float %d29, ptr %p29
  %d30 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 30
  store float %d30, ptr %p30
  %d31 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 31
  store float %d31, ptr %p31
  ret void
}
define void @__kernelmill_wgmma_bf16(ptr %sums, i64 %a, i64 %b) alwaysinline convergent {
  %c0 = load float, ptr %sums
  %p1 = getelementptr i8, ptr %sums, i64 4
  %c1 = load float, ptr %p1
  %p2 = getelementptr i8, ptr %sums, i64 8
  %c2 = load float, ptr %p2
  %p3 = getelementptr i8, ptr %sums, i64 12
  %c3 = load float, ptr %p3
  %p4 = getelementptr i8, ptr %sums, i64 16
  %c4 = load float, ptr %p4
  %p5 = getelementptr i8, ptr %sums, i64 20
  %c5 = load float, ptr %p5
  %p6 = getelementptr i8, ptr %sums, i64 24
  %c6 = load float, ptr %p6
  %p7 = getelementptr i8, ptr %sums, i64 28
  %c7 = load float, ptr %p7
  %p8 = getelementptr i8, ptr %sums, i64 32
  %c8 = load float, ptr %p8
  %p9 = getelementptr i8, ptr %sums, i64 36
  %c9 = load float, ptr %p9
  %p10 = getelementptr i8, ptr %sums, i64 40
  %c10 = load float, ptr %p10
  %p11 = getelementptr i8, ptr %sums, i64 44
  %c11 = load float, ptr %p11
  %p12 = getelementptr i8, ptr %sums, i64 48
  %c12 = load float, ptr %p12
  %p13 = getelementptr i8, ptr %sums, i64 52
  %c13 = load float, ptr %p13
  %p14 = getelementptr i8, ptr %sums, i64 56
  %c14 = load float, ptr %p14
  %p15 = getelementptr i8, ptr %sums, i64 60
  %c15 = load float, ptr %p15
  %p16 = getelementptr i8, ptr %sums, i64 64
  %c16 = load float, ptr %p16
  %p17 = getelementptr i8, ptr %sums, i64 68
  %c17 = load float, ptr %p17
  %p18 = getelementptr i8, ptr %sums, i64 72
  %c18 = load float, ptr %p18
  %p19 = getelementptr i8, ptr %sums, i64 76
  %c19 = load float, ptr %p19
  %p20 = getelementptr i8, ptr %sums, i64 80
  %c20 = load float, ptr %p20
  %p21 = getelementptr i8, ptr %sums, i64 84
  %c21 = load float, ptr %p21
  %p22 = getelementptr i8, ptr %sums, i64 88
  %c22 = load float, ptr %p22
  %p23 = getelementptr i8, ptr %sums, i64 92
  %c23 = load float, ptr %p23
  %p24 = getelementptr i8, ptr %sums, i64 96
  %c24 = load float, ptr %p24
  %p25 = getelementptr i8, ptr %sums, i64 100
  %c25 = load float, ptr %p25
  %p26 = getelementptr i8, ptr %sums, i64 104
  %c26 = load float, ptr %p26
  %p27 = getelementptr i8, ptr %sums, i64 108
  %c27 = load float, ptr %p27
  %p28 = getelementptr i8, ptr %sums, i64 112
  %c28 = load float, ptr %p28
  %p29 = getelementptr i8, ptr %sums, i64 116
  %c29 = load float, ptr %p29
  %p30 = getelementptr i8, ptr %sums, i64 120
  %c30 = load float, ptr %p30
  %p31 = getelementptr i8, ptr %sums, i64 124
  %c31 = load float, ptr %p31
  %d = call { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } asm sideeffect "wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {$0, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31}, $32, $33, 1, 1, 1, 0, 0; wgmma.commit_group.sync.aligned;", "=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,l,l,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,~{memory}"(i64 %a, i64 %b, float %c0, float %c1, float %c2, float %c3, float %c4, float %c5, float %c6, float %c7, float %c8, float %c9, float %c10, float %c11, float %c12, float %c13, float %c14, float %c15, float %c16, float %c17, float %c18, float %c19, float %c20, float %c21, float %c22, float %c23, float %c24, float %c25, float %c26, float %c27, float %c28, float %c29, float %c30, float %c31) convergent
  %d0 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 0
  store float %d0, ptr %sums
  %d1 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 1
  store float %d1, ptr %p1
  %d2 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 2
  store float %d2, ptr %p2
  %d3 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 3
  store float %d3, ptr %p3
  %d4 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 4
  store float %d4, ptr %p4
  %d5 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 5
  store float %d5, ptr %p5
  %d6 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 6
  store float %d6, ptr %p6
  %d7 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 7
  store float %d7, ptr %p7
  %d8 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 8
  store float %d8, ptr %p8
  %d9 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 9
  store float %d9, ptr %p9
  %d10 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 10
  store float %d10, ptr %p10
  %d11 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 11
  store float %d11, ptr %p11
  %d12 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 12
  store float %d12, ptr %p12
  %d13 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 13
  store float %d13, ptr %p13
  %d14 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 14
  store float %d14, ptr %p14
  %d15 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 15
  store float %d15, ptr %p15
  %d16 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 16
  store float %d16, ptr %p16
  %d17 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 17
  store float %d17, ptr %p17
  %d18 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 18
  store float %d18, ptr %p18
  %d19 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 19
  store float %d19, ptr %p19
  %d20 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 20
  store float %d20, ptr %p20
  %d21 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 21
  store float %d21, ptr %p21
  %d22 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 22
  store float %d22, ptr %p22
  %d23 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 23
  store float %d23, ptr %p23
  %d24 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 24
  store float %d24, ptr %p24
  %d25 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 25
  store float %d25, ptr %p25
  %d26 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 26
  store float %d26, ptr %p26
  %d27 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 27
  store float %d27, ptr %p27
  %d28 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 28
  store float %d28, ptr %p28
  %d29 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 29
  store float %d29, ptr %p29
  %d30 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 30
  store float %d30, ptr %p30
  %d31 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 31
  store float %d31, ptr %p31
  ret void
}
define void @__kernelmill_wgmma_wait(ptr %sums) alwaysinline convergent {
  %c0 = load float, ptr %sums
  %p1 = getelementptr i8, ptr %sums, i64 4
  %c1 = load float, ptr %p1
  %p2 = getelementptr i8, ptr %sums, i64 8
  %c2 = load float, ptr %p2
  %p3 = getelementptr i8, ptr %sums, i64 12
  %c3 = load float, ptr %p3
  %p4 = getelementptr i8, ptr %sums, i64 16
  %c4 = load float, ptr %p4
  %p5 = getelementptr i8, ptr %sums, i64 20
  %c5 = load float, ptr %p5
  %p6 = getelementptr i8, ptr %sums, i64 24
  %c6 = load float, ptr %p6
  %p7 = getelementptr i8, ptr %sums, i64 28
  %c7 = load float, ptr %p7
  %p8 = getelementptr i8, ptr %sums, i64 32
  %c8 = load float, ptr %p8
  %p9 = getelementptr i8, ptr %sums, i64 36
  %c9 = load float, ptr %p9
  %p10 = getelementptr i8, ptr %sums, i64 40
  %c10 = load float, ptr %p10
  %p11 = getelementptr i8, ptr %sums, i64 44
  %c11 = load float, ptr %p11
  %p12 = getelementptr i8, ptr %sums, i64 48
  %c12 = load float, ptr %p12
  %p13 = getelementptr i8, ptr %sums, i64 52
  %c13 = load float, ptr %p13
  %p14 = getelementptr i8, ptr %sums, i64 56
  %c14 = load float, ptr %p14
  %p15 = getelementptr i8, ptr %sums, i64 60
  %c15 = load float, ptr %p15
  %p16 = getelementptr i8, ptr %sums, i64 64
  %c16 = load float, ptr %p16
  %p17 = getelementptr i8, ptr %sums, i64 68
  %c17 = load float, ptr %p17
  %p18 = getelementptr i8, ptr %sums, i64 72
  %c18 = load float, ptr %p18
  %p19 = getelementptr i8, ptr %sums, i64 76
  %c19 = load float, ptr %p19
  %p20 = getelementptr i8, ptr %sums, i64 80
  %c20 = load float, ptr %p20
  %p21 = getelementptr i8, ptr %sums, i64 84
  %c21 = load float, ptr %p21
  %p22 = getelementptr i8, ptr %sums, i64 88
  %c22 = load float, ptr %p22
  %p23 = getelementptr i8, ptr %sums, i64 92
  %c23 = load float, ptr %p23
  %p24 = getelementptr i8, ptr %sums, i64 96
  %c24 = load float, ptr %p24
  %p25 = getelementptr i8, ptr %sums, i64 100
  %c25 = load float, ptr %p25
  %p26 = getelementptr i8, ptr %sums, i64 104
  %c26 = load float, ptr %p26
  %p27 = getelementptr i8, ptr %sums, i64 108
  %c27 = load float, ptr %p27
  %p28 = getelementptr i8, ptr %sums, i64 112
  %c28 = load float, ptr %p28
  %p29 = getelementptr i8, ptr %sums, i64 116
  %c29 = load float, ptr %p29
  %p30 = getelementptr i8, ptr %sums, i64 120
  %c30 = load float, ptr %p30
  %p31 = getelementptr i8, ptr %sums, i64 124
  %c31 = load float, ptr %p31
  %d = call { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } asm sideeffect "wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,~{memory}"(float %c0, float %c1, float %c2, float %c3, float %c4, float %c5, float %c6, float %c7, float %c8, float %c9, float %c10, float %c11, float %c12, float %c13, float %c14, float %c15, float %c16, float %c17, float %c18, float %c19, float %c20, float %c21, float %c22, float %c23, float %c24, float %c25, float %c26, float %c27, float %c28, float %c29, float %c30, float %c31) convergent
  %d0 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 0
  store float %d0, ptr %sums
  %d1 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 1
  store float %d1, ptr %p1
  %d2 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 2
  store float %d2, ptr %p2
  %d3 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 3
  store float %d3, ptr %p3
  %d4 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 4
  store float %d4, ptr %p4
  %d5 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 5
  store float %d5, ptr %p5
  %d6 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 6
  store float %d6, ptr %p6
  %d7 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 7
  store float %d7, ptr %p7
  %d8 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 8
  store float %d8, ptr %p8
  %d9 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 9
  store float %d9, ptr %p9
  %d10 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 10
  store float %d10, ptr %p10
  %d11 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 11
  store float %d11, ptr %p11
  %d12 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 12
  store float %d12, ptr %p12
  %d13 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 13
  store float %d13, ptr %p13
  %d14 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 14
  store float %d14, ptr %p14
  %d15 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 15
  store float %d15, ptr %p15
  %d16 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 16
  store float %d16, ptr %p16
  %d17 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 17
  store float %d17, ptr %p17
  %d18 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 18
  store float %d18, ptr %p18
  %d19 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 19
  store float %d19, ptr %p19
  %d20 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 20
  store float %d20, ptr %p20
  %d21 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 21
  store float %d21, ptr %p21
  %d22 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 22
  store float %d22, ptr %p22
  %d23 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 23
  store float %d23, ptr %p23
  %d24 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 24
  store float %d24, ptr %p24
  %d25 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 25
  store float %d25, ptr %p25
  %d26 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 26
  store float %d26, ptr %p26
  %d27 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 27
  store float %d27, ptr %p27
  %d28 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 28
  store float %d28, ptr %p28
  %d29 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 29
  store float %d29, ptr %p29
  %d30 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 30
  store float %d30, ptr %p30
  %d31 = extractvalue { float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float } %d, 31
  store float %d31, ptr %p31
  ret void
}
