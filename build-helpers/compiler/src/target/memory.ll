; Functions of C's library that compiled Rust calls and GPUs have no library for.
define linkonce_odr i32 @memcmp(ptr %a, ptr %b, i64 %n) nobuiltin "no-builtins" {
start:
  %empty = icmp eq i64 %n, 0
  br i1 %empty, label %equal, label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %same ]
  %p = getelementptr i8, ptr %a, i64 %i
  %q = getelementptr i8, ptr %b, i64 %i
  %left = load i8, ptr %p
  %right = load i8, ptr %q
  %c = icmp eq i8 %left, %right
  br i1 %c, label %same, label %different
same:
  %next = add i64 %i, 1
  %end = icmp eq i64 %next, %n
  br i1 %end, label %equal, label %loop
different:
  %l = zext i8 %left to i32
  %r = zext i8 %right to i32
  %d = sub i32 %l, %r
  ret i32 %d
equal:
  ret i32 0
}
define linkonce_odr i32 @bcmp(ptr %a, ptr %b, i64 %n) nobuiltin "no-builtins" {
  %r = call i32 @memcmp(ptr %a, ptr %b, i64 %n)
  ret i32 %r
}

