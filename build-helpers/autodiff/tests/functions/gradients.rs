//! The functions whose gradients are checked, each for both widths. Not a test by itself: the tests
//! compile this file to bitcode as the front end compiles kernels.

macro_rules! functions {
    ($float:ident) => {
        pub mod $float {
            type F = $float;

            #[derive(Clone, Copy)]
            pub struct Body {
                pub position: [F; 3],
                pub mass: F,
            }

            #[derive(Clone, Copy)]
            pub struct Pair {
                pub a: F,
                pub b: F,
            }

            pub struct Mixed {
                pub count: F,
                pub scale: F,
                pub offsets: [F; 4],
            }

            functions! { @each $float
                fn square(x: F) -> F { x * x }
                fn polynomial(x: F) -> F { ((2.0 * x - 3.0) * x + 0.5) * x - 7.0 }
                fn rational(x: F, y: F) -> F { (x * x + 3.0 * y) / (1.0 + x * x * y * y) }
                fn quotient(x: F, y: F) -> F { x / y - y / x }
                fn remainder(x: F, y: F) -> F { (x % y) * x }
                fn trigonometry(x: F) -> F { x.sin() * x.cos() + (x * 0.3).tan() }
                fn inverse_trigonometry(x: F) -> F { x.asin() + 2.0 * x.acos() * x.atan() }
                fn angle(y: F, x: F) -> F { y.atan2(x) * x }
                fn hyperbolic(x: F) -> F { x.sinh() * x.tanh() - x.cosh() }
                fn exponentials(x: F) -> F { x.exp() + x.exp2() * x.exp_m1() }
                fn logarithms(x: F) -> F { x.ln() * x.log2() + x.log10() * x.ln_1p() }
                fn powers(x: F, y: F) -> F { x.powf(y) + x.powi(5) * y.powi(-2) }
                fn roots(x: F, y: F) -> F { x.sqrt() * y.cbrt() + x.hypot(y) }
                fn fused(x: F, y: F, z: F) -> F { x.mul_add(y, z).mul_add(x, y * z) }
                fn absolute(x: F) -> F { (x * x * x).abs() + x.copysign(x - 0.3) }
                fn limits(x: F, y: F) -> F { x.min(y) * 2.0 + x.max(y) * y + x.clamp(-0.5, 0.5) }
                fn steps(x: F) -> F { (x.floor() + x.ceil() + x.trunc() + x.round()) * x }
                fn logistic(x: F) -> F { 1.0 / (1.0 + (-x).exp()) }
                fn branch(x: F) -> F { if x > 0.0 { x * x * x } else { x.sin() } }
                fn nested_branches(x: F, y: F) -> F {
                    let mut r = x;
                    if x > y {
                        if x > 1.0 { r = r * y.sin() } else { r = r + y * y * x }
                        r = r * 2.0;
                    } else if y < -0.5 {
                        r = y.exp() * x;
                    }
                    r * r + y
                }
                fn early_return(x: F, y: F) -> F {
                    if x < -0.5 { return y * 3.0 }
                    let z = x * y;
                    if z > 0.4 { return z * z }
                    z.exp() - x
                }
                fn choice(x: F, which: u32) -> F {
                    match which { 0 => x * x, 1 => x.sin(), 2 => x.exp(), 7 => 1.0 / (2.0 + x * x), _ => x }
                }
                fn short_loop(x: F) -> F {
                    let mut y = x;
                    for _ in 0..3 { y = y * y * 0.5 + x }
                    y
                }
                fn long_loop(x: F, a: F) -> F {
                    let mut y = x;
                    for _ in 0..100 { y = a * y * (1.0 - y) * 0.3 + 0.2 * x }
                    y
                }
                fn counted_loop(x: F, n: u32) -> F {
                    let (mut y, mut i) = (x, 0);
                    while i < n { y = (y + x).sin() + y * 0.5; i += 1 }
                    y
                }
                fn downwards(x: &[F]) -> F {
                    let (mut sum, mut i): (F, _) = (0.0, x.len());
                    while i > 0 { i -= 1; sum = sum * 0.9 + x[i] * sum.cos() + x[i] }
                    sum
                }
                fn newton(x: F) -> F {
                    let mut y = x;
                    for _ in 0..30 {
                        let next = 0.5 * (y + x / y);
                        if (next - y).abs() < 1e-13 { break }
                        y = next;
                    }
                    y
                }
                fn dot(a: &[F], b: &[F]) -> F {
                    let mut sum = 0.0;
                    for i in 0..a.len() { sum += a[i] * b[i] }
                    sum
                }
                fn zipped(a: &[F], b: &[F]) -> F {
                    let mut sum = 0.0;
                    for (x, y) in a.iter().zip(b) { sum += x * y.exp() }
                    sum
                }
                fn adaptors(a: &[F]) -> F {
                    a.iter().filter(|x| **x > 0.0).map(|x| x * x).sum::<F>() * a.iter().copied().fold(1.0, |p, x| p * (1.0 + x * 0.1))
                }
                fn norm(a: &[F]) -> F { a.iter().map(|x| x * x).sum::<F>().sqrt() }
                fn soft_max(a: &[F], out: &mut [F]) {
                    let mut highest = a[0];
                    for &x in a { if x > highest { highest = x } }
                    let mut sum = 0.0;
                    for &x in a { sum += (x - highest).exp() }
                    for i in 0..out.len() { out[i] = (a[i] - highest).exp() / sum }
                }
                fn matrix(a: &[[F; 5]; 5], b: &[[F; 5]; 5], c: &mut [[F; 5]; 5]) {
                    for i in 0..5 { for j in 0..5 {
                        let mut sum = 0.0;
                        for k in 0..5 { sum += a[i][k] * b[k][j] }
                        c[i][j] = sum;
                    } }
                }
                fn matrix_of_any_size(a: &[F], b: &[F], c: &mut [F], n: u64) {
                    let n = n as usize;
                    for i in 0..n { for j in 0..n {
                        let mut sum = 0.0;
                        for k in 0..n { sum += a[i * n + k] * b[k * n + j] }
                        c[i * n + j] = sum * sum;
                    } }
                }
                fn triangle(a: &[F]) -> F {
                    let mut sum = 0.0;
                    for i in 0..a.len() {
                        let mut product = 1.0;
                        for j in 0..i { product *= 1.0 + a[j] * a[i] * 0.2 }
                        sum += product.ln_1p();
                    }
                    sum
                }
                fn in_place(a: &mut [F]) {
                    for x in a.iter_mut() { *x = *x * *x }
                    for i in 1..a.len() { a[i] = a[i] + a[i - 1] * a[i] }
                }
                fn sort_of(a: &mut [F]) {
                    for i in 1..a.len() {
                        let mut j = i;
                        while j > 0 && a[j - 1] > a[j] {
                            a.swap(j - 1, j);
                            j -= 1;
                        }
                    }
                    for i in 0..a.len() { a[i] *= (i + 1) as F }
                }
                fn prefix_sums(a: &[F], out: &mut [F]) {
                    let mut sum = 0.0;
                    for (x, y) in a.iter().zip(out.iter_mut()) { sum += x * x; *y = sum * x }
                }
                fn local_array(x: F, y: F) -> F {
                    let mut a = [0.0; 16];
                    a[0] = x;
                    for i in 1..16 { a[i] = a[i - 1] * y + 1.0 / (i as F) }
                    let mut sum = 0.0;
                    for v in a { sum += v * v }
                    sum
                }
                fn table(x: &[F], n: u32) -> F {
                    let mut counts = [0.0; 8];
                    for i in 0..n as usize { counts[(i * 5 + 1) % 8] += x[i % x.len()] * x[(i + 1) % x.len()] }
                    counts[1] * counts[2] + counts[3].sin() + counts[6]
                }
                fn structs(bodies: &[Body; 4]) -> F {
                    let mut energy = 0.0;
                    for i in 0..4 { for j in 0..i {
                        let (p, q) = (bodies[i], bodies[j]);
                        let mut r = 0.01;
                        for k in 0..3 { let d = p.position[k] - q.position[k]; r += d * d }
                        energy -= p.mass * q.mass / r.sqrt();
                    } }
                    energy
                }
                fn pair(p: Pair, q: Pair) -> Pair { Pair { a: p.a * q.a - p.b * q.b, b: p.a * q.b + p.b * q.a } }
                fn complex_power(p: Pair, n: u32) -> Pair {
                    let mut z = p;
                    for _ in 0..n { z = self::pair(z, p); z.a += 0.1 }
                    z
                }
                fn mixed(m: &Mixed) -> F {
                    let mut sum = 0.0;
                    for i in 0..7_usize { sum += m.offsets[i % 4] * m.scale.powi(i as i32) }
                    sum
                }
                fn update_struct(body: &mut Body, force: &[F; 3]) {
                    for k in 0..3 { body.position[k] += force[k] / body.mass }
                    body.mass *= 0.5 + body.position[0];
                }
                fn swapped(a: &mut F, b: &mut F) { if *a > *b { core::mem::swap(a, b) } *a *= 2.0; *b *= *a }
                fn swapped_elements(a: &mut [F]) { a.swap(0, 2); a[0] *= a[1] * a[2] }
                fn swapped_pair(a: &mut [F; 2]) { a.swap(0, 1); a[0] *= a[1] }
                fn swapped_rows(a: &mut [[F; 4]; 3]) { a.swap(0, 2); for i in 0..4 { a[0][i] *= a[2][i] + a[1][i] } }
                fn rotated(a: &mut [F; 5]) { a.rotate_left(2); a[0] *= a[1] * a[4] }
                fn moved_down(a: &mut [F]) { a.copy_within(2.., 0); a[0] *= a[1]; a[4] *= a[5] }
                fn moved_up(a: &mut [F]) { a.copy_within(..4, 1); a[0] *= a[1]; a[4] *= a[5] }
                fn sorted(a: &mut [F; 4]) { a.sort_unstable_by(|a, b| a.total_cmp(b)); a[0] *= a[1]; a[2] *= a[3] }
                fn sorted_three(a: &mut [F; 3]) { a.sort_by(|a, b| a.partial_cmp(b).unwrap()); a[0] *= a[1] + a[2] * a[2] }
                fn median(a: &[F; 5]) -> F { let mut a = *a; a.sort_unstable_by(|a, b| a.total_cmp(b)); a[2] * a[4] }
                fn sorted_numbers(a: F, b: F, c: F) -> F {
                    let mut all = [a, b, c];
                    all.sort_unstable_by(|a, b| a.total_cmp(b));
                    all[0] * all[1] - all[2] * all[2]
                }
                fn sorted_numbers_by_value(a: F, b: F, c: F, d: F) -> F {
                    let mut all = [a, b, c, d];
                    all.sort_by(|a, b| b.partial_cmp(a).unwrap());
                    all[0] * all[1] - all[2] * all[3]
                }
                fn swapped_numbers(a: F, b: F, c: F) -> F {
                    let mut all = [a, b, c];
                    if all[0] > all[2] { all.swap(0, 2) }
                    if all[1] > all[2] { all.swap(1, 2) }
                    all[0] * all[1] - all[2] * all[2]
                }
                fn sorted_copy(a: &[F; 2]) -> F { let mut a = *a; a.sort_by(|a, b| a.total_cmp(b)); a[0] * a[0] * a[1] }
                fn reversed_numbers(a: F, b: F, c: F) -> F { let mut all = [a, b, c]; all.reverse(); all.rotate_left(1); all[0] * all[1] - all[2] }
                fn reversed(a: &mut [F; 4]) { a.reverse(); a[0] *= a[1] * a[3] }
                fn rotated_by(a: &mut [F; 7], n: u32) { a.rotate_right(n as usize % 7); a[0] *= a[1]; a[6] *= a[5] }
                fn rotated_pairs(a: &mut [[F; 2]; 3]) { a.rotate_left(1); a[0][1] *= a[2][0] }
                fn halves_swapped(a: &mut [F; 6]) {
                    let (low, high) = a.split_at_mut(3);
                    low.swap_with_slice(high);
                    low[0] *= high[0] * low[1];
                }
                fn replaced(a: &mut [F; 3]) { let new = a[1] * a[1]; let old = core::mem::replace(&mut a[0], new); a[1] = old * a[2]; a[2] = core::mem::take(&mut a[0]) }
                fn body_swapped(a: &mut Body, b: &mut Body) { if a.mass > b.mass { core::mem::swap(a, b) } a.mass *= b.position[1] }
                fn pairs_sorted(a: &mut [[F; 2]; 3]) { a.sort_unstable_by(|a, b| b[1].total_cmp(&a[1])); a[0][0] *= a[2][1] }
                fn selected(a: &mut [F; 5]) { a.select_nth_unstable_by(2, |a, b| a.total_cmp(b)); a[2] *= a[2] }
                fn mapped(a: &[F; 4]) -> F { let [x, y, z, w] = a.map(|x| x * x); [w, x, y, z].iter().fold(1.0, |all, x| all * 0.5 + x) * x }
                fn copied(a: &[F], out: &mut [F]) { out.copy_from_slice(a); for x in out.iter_mut() { *x *= *x } }
                fn called(x: F, y: F) -> F { self::helper(x, self::helper(y, x)) + self::helper(x * y, 0.5) }
                fn closures(x: F, n: u32) -> F {
                    let step = |y: F| y * 0.7 + (y * x).sin();
                    let mut y = x;
                    for _ in 0..n { y = step(y) }
                    y
                }
                fn chosen_function(x: F) -> F {
                    let functions: [fn(F) -> F; 2] = [self::cube, self::half];
                    functions[0](x) * functions[1](x * x)
                }
                fn black_scholes(s: F, k: F, t: F, r: F, v: F) -> F {
                    let root = v * t.sqrt();
                    let d1 = ((s / k).ln() + (r + 0.5 * v * v) * t) / root;
                    let d2 = d1 - root;
                    s * self::normal(d1) - k * (-r * t).exp() * self::normal(d2)
                }
                fn prices(options: &[F], out: &mut [F]) {
                    for (o, out) in options.chunks_exact(5).zip(out.iter_mut()) {
                        *out = self::black_scholes(o[0], o[1], o[2], o[3], o[4]);
                    }
                }
                fn gravity(position: &[F], of: &[F; 3], out: &mut [F; 3]) {
                    let (mut ax, mut ay, mut az) = (0.0, 0.0, 0.0);
                    for p in position.chunks_exact(4) {
                        let (dx, dy, dz) = (p[0] - of[0], p[1] - of[1], p[2] - of[2]);
                        let r = dx * dx + dy * dy + dz * dz + 0.01;
                        let s = p[3] / (r * r.sqrt());
                        ax += dx * s; ay += dy * s; az += dz * s;
                    }
                    *out = [ax, ay, az];
                }
                fn runge_kutta(x: F, k: F, n: u32) -> F {
                    let (mut p, mut v) = (x, 0.0);
                    let h = 0.05;
                    for _ in 0..n {
                        let f = |p: F, v: F| (v, -k * p - 0.1 * v * v.abs());
                        let (p1, v1) = f(p, v);
                        let (p2, v2) = f(p + 0.5 * h * p1, v + 0.5 * h * v1);
                        let (p3, v3) = f(p + 0.5 * h * p2, v + 0.5 * h * v2);
                        let (p4, v4) = f(p + h * p3, v + h * v3);
                        p += h / 6.0 * (p1 + 2.0 * p2 + 2.0 * p3 + p4);
                        v += h / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4);
                    }
                    p
                }
                fn labelled(a: &[F], limit: F) -> F {
                    let mut sum = 0.0;
                    'rows: for i in 0..a.len() {
                        for j in 0..a.len() {
                            if a[j] * a[i] > limit { continue 'rows }
                            sum += a[i] * a[j] * (1.0 + sum * 0.1);
                            if sum > 8.0 { break 'rows }
                        }
                        sum *= 1.1;
                    }
                    sum
                }
                fn collatz(x: F, n: u32) -> F {
                    let (mut y, mut n) = (x, n);
                    while n != 1 {
                        if n % 2 == 0 { n /= 2; y = y * 0.5 + x } else { n = 3 * n + 1; y = y * 1.01 - 0.1 * y * y }
                    }
                    y
                }
            }

            fn helper(x: F, y: F) -> F { if x > y { x * y } else { x.sin() + y } }
            fn cube(x: F) -> F { x * x * x }
            fn half(x: F) -> F { x * 0.5 }
            fn normal(x: F) -> F {
                let k = 1.0 / (1.0 + 0.231_641_9 * x.abs());
                let poly = k * (0.319_381_53 + k * (-0.356_563_78 + k * (1.781_477_9 + k * (-1.821_255_9 + k * 1.330_274_4))));
                let tail = 0.398_942_3 * (-0.5 * x * x).exp() * poly;
                if x < 0.0 { tail } else { 1.0 - tail }
            }
        }
    };
    (@each $float:ident $(fn $name:ident($($parameter:ident: $ty:ty),*) $(-> $result:ty)? $body:block)*) => {
        $(
            #[unsafe(export_name = concat!(stringify!($name), "_", stringify!($float)))]
            pub fn $name($($parameter: $ty),*) $(-> $result)? $body
        )*
    };
}

functions!(f64);
functions!(f32);
