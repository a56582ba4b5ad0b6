//! Accesses of neighbouring threads to memory: which of them the CPU's code does at once.

mod common;

use common::{code, code_along_y, compile};

/// Vector widths that there are bodies for: 8 and 16, or 4 with NEON.
const WIDTHS: usize = if cfg!(target_arch = "x86_64") { 2 } else { 1 };

/// Calls of an operation on the lanes of a vector.
fn calls(code: &str, name: &str) -> usize {
    code.lines().filter(|line| line.contains("call ") && line.contains(name)).count()
}

/// Whether lanes have addresses of their own.
fn apart(code: &str) -> usize {
    calls(code, "@llvm.masked.gather.") + calls(code, "@llvm.masked.scatter.")
}

/// A kernel around the value of an element at `i`, of `x` with `n` elements.
fn kernel(types: &str, element: &str, value: &str) -> String {
    format!(
        "{types}\n#[kernel]\npub fn some(n: i32, m: u32, x: &[{element}], mut y: DisjointSlice<u32>) {{\n    \
         let i = thread::index_1d();\n    \
         if let Some(out) = y.get_mut(i) {{\n    let i = i.get() as i32;\n    \
         let at = |j: i32| unsafe {{ x.get_unchecked(j as usize) }};\n    \
         *out = {{ {value} }};\n    }}\n}}\n"
    )
}

/// Fields of structures in a row: vectors of whole structures, and shuffles.
#[test]
fn fields_of_structures_are_read_in_rows() {
    let of = |name: &str, fields: &str, value: &str| {
        let types = format!("#[repr(C)] #[derive(Clone, Copy)] pub struct Item {{ {fields} }}");
        code(name, &kernel(&types, "Item", value))
    };
    let four = "pub a: u32, pub b: u32, pub c: u32, pub d: u32";
    let all = "let it = at(i); it.a ^ it.b ^ it.c ^ it.d";
    let [full, any] = of("patterns_all", four, all);
    assert_eq!(apart(&full), 0, "{full}");
    assert!(apart(&any) > 0, "vectors at the end have no whole row: {any}");
    // What one field reads the others read too.
    let [one, _] = of("patterns_one", four, "at(i).b");
    let loads = |code: &str| code.matches("= load <").count();
    assert_eq!(apart(&one), 0, "{one}");
    assert_eq!(loads(&full), loads(&one), "{full}{one}");
    let [bytes, _] = of("patterns_bytes", "pub r: u8, pub g: u8, pub b: u8", "u32::from(at(i).g)");
    assert_eq!(apart(&bytes), 0, "{bytes}");
    // More elements from thread to thread than there are threads.
    let [wide, _] = of("patterns_wide", "pub a: [u32; 40]", "at(i).a[3]");
    assert!(apart(&wide) > 0, "{wide}");
}

/// What lies between two fields is not read where another field may change.
#[test]
fn fields_are_not_read_before_memory_changes() {
    let types = "#[repr(C)] #[derive(Clone, Copy)] pub struct Item { pub a: u32, pub b: u32 }";
    let both = |between: &str| {
        let value = format!("let a = at(i).a; {between} a ^ at(i).b");
        code("patterns_between", &kernel(types, "Item", &value))[0].clone()
    };
    let loads = |code: &str| code.matches("= load <").count();
    let fence = "core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);";
    assert!(loads(&both(fence)) > loads(&both("")), "{}", both(fence));
}

/// All fields of structures in a row: shuffles, and vectors of whole structures. Nothing that other threads may write is
/// written, and no store goes behind what may read what it wrote.
#[test]
fn fields_of_structures_are_written_in_rows() {
    let of = |name: &str, fields: &str, stores: &str| {
        let text = format!(
            "#[repr(C)] #[derive(Clone, Copy)] pub struct Item {{ {fields} }}
            #[kernel]
            pub fn some(m: &[u32], mut y: DisjointSlice<Item>) {{
                let index = thread::index_1d();
                if let Some(out) = y.get_mut(index) {{
                    let i = index.get();
                    let v = unsafe {{ *m.get_unchecked(i) }};
                    {stores}
                }}
            }}"
        );
        code(name, &text)[0].clone()
    };
    let (two, three) = ("pub a: u32, pub b: u32", "pub a: u32, pub b: f32, pub c: u32");
    let all = "(out.b, out.a) = (v * 3, v + 1);";
    let full = of("written_two", two, all);
    assert_eq!(apart(&full), 0, "{full}");
    let full = of("written_three", three, "*out = Item { a: v, b: v as f32, c: v ^ 7 };");
    assert_eq!(apart(&full), 0, "{full}");
    // What is read between the stores is in another array.
    let around = "out.a = v; let other = unsafe { *(m.as_ptr().add(v as usize)) }; out.b = other;";
    let full = of("written_around_a_read", two, around);
    assert_eq!(calls(&full, "@llvm.masked.scatter."), 0, "{full}");
    let six = "pub a: u32, pub b: u32, pub c: u32, pub d: u32, pub e: u32, pub f: u32";
    for (name, fields, stores) in [
        ("written_but_some", six, "out.a = v; out.c = v ^ 7;"),
        (
            "written_around_a_fence",
            two,
            "out.a = v; core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst); out.b = v ^ 7;",
        ),
        (
            "written_around_a_read_of_it",
            two,
            "out.a = v; let other = unsafe { *(&raw const out.a).add(v as usize) }; out.b = other;",
        ),
    ] {
        let full = of(name, fields, stores);
        let scatters = calls(&full, "@llvm.masked.scatter.");
        assert!(scatters >= WIDTHS, "{name}: {full}");
    }
    // Structures that some threads write: rows under the masks of these, where processors have such stores.
    let full = of("written_by_some", two, "if v & 1 == 0 { (out.a, out.b) = (v * 3, v + 1); }");
    let [scatters, rows] =
        ["scatter", "store"].map(|it| calls(&full, &format!("@llvm.masked.{it}.")));
    match cfg!(target_arch = "x86_64") {
        true => assert_eq!([scatters, rows], [0, 2 * WIDTHS], "{full}"),
        false => assert_eq!([scatters, rows], [2, 0], "{full}"),
    }
}

/// One field of each structure: rows under masks of it with AVX-512, as long as a structure has few fields.
#[test]
fn a_field_of_structures_is_written_in_rows() {
    let of = |name: &str, words: u32| {
        let text = format!(
            "#[repr(C)] #[derive(Clone, Copy)] pub struct Item([u32; {words}]);
            #[kernel]
            pub fn some(m: &[u32], mut y: DisjointSlice<Item>) {{
                let index = thread::index_1d();
                if let Some(out) = y.get_mut(index) {{
                    out.0[1] = unsafe {{ *m.get_unchecked(index.get()) }};
                }}
            }}"
        );
        let full = code(name, &text)[0].clone();
        ["scatter", "store"].map(|it| calls(&full, &format!("@llvm.masked.{it}.")))
    };
    for (name, words) in [("field_of_two", 2), ("field_of_three", 3), ("field_of_four", 4)] {
        let rows = if cfg!(target_arch = "x86_64") { words as usize } else { 0 };
        assert_eq!(of(name, words), [1, rows], "{name}");
    }
    assert_eq!(of("field_of_five", 5), [WIDTHS, 0]);
}

/// What many threads write to one address, one of them writes.
#[test]
fn stores_to_one_address_are_of_one_lane() {
    let of = |name: &str, place: &str| {
        let text = format!(
            "#[kernel]
            pub fn some(m: u32, x: &[u32], mut y: DisjointSlice<u32>) {{
                let i = thread::index_1d().get();
                let v = unsafe {{ *x.get_unchecked(i) }};
                if v > m {{ unsafe {{ *y.get_unchecked_mut({place}) = v ^ 7 }}; }}
            }}"
        );
        let full = code(name, &text)[0].clone();
        ["scatter", "store"].map(|it| calls(&full, &format!("@llvm.masked.{it}.")))
    };
    assert_eq!(of("one_address", "m as usize"), [0, 0]);
    assert_eq!(of("an_address_each", "v as usize"), [WIDTHS, 0]);
}

/// A neighbour that is kept within an image, by a minimum or by a condition: one row within the image.
#[test]
fn neighbours_within_an_image_are_read_at_once() {
    for (name, index) in [
        ("patterns_least", "(i - 1).max(0)"),
        ("patterns_most", "(i + 3).min(n)"),
        ("patterns_both", "(i + n).max(0).min(m as i32)"),
        ("patterns_chosen", "if i > 0 { i - 1 } else { i }"),
    ] {
        let [full, _] = code(name, &kernel("", "u32", &format!("*at({index})")));
        assert!(full.contains("= load <"), "{name}: {full}");
        // At the border each lane has its own, in each body: that of four vectors at once is one.
        let bodies = full.matches("define ").count();
        assert!(bodies >= WIDTHS, "{name}: {full}");
        assert_eq!(apart(&full), bodies, "{name}: {full}");
    }
    let [full, _] = code("patterns_far", &kernel("", "u32", "*at(i.max(2 * i - n))"));
    assert!(!full.contains("= load <"), "{full}");
}

/// Partners that differ in bits above the lowest, in blocks of any size.
#[test]
fn partners_in_blocks_of_any_size_are_read_at_once() {
    let [full, any] = code("patterns_flip", &kernel("", "u32", "*at(i ^ m as i32)"));
    assert_eq!(apart(&full), 0, "{full}");
    assert!(apart(&any) > 0, "{any}");
    // This index takes too long to be computed at the start as well.
    let [full, _] = code("patterns_far_flip", &kernel("", "u32", "*at(i ^ 64)"));
    assert!(full.contains("= load <"), "{full}");
    let [full, _] = code("patterns_near_flip", &kernel("", "u32", "*at(i ^ 5)"));
    assert!(apart(&full) > 0, "{full}");
}

/// There is code for narrow blocks where the index along y is used and blocks may be narrow, of kernels that are not long.
#[test]
fn narrow_blocks_have_vectors_along_y() {
    let of = |name: &str, attribute: &str, row: &str, steps: usize| {
        let step = "value = (value ^ (value >> 7)).wrapping_mul(0x9e37_79b9) % (width + 1);";
        let text = format!(
            "use kernelmill_device::prelude::*;
            #[kernel({attribute})]
            pub fn below(width: u32, x: &[u32], mut y: DisjointSlice<u32>) {{
                let (block, dim, t) = (thread::block_idx(), thread::block_dim(), thread::thread_idx());
                let at = (({row}) * width + block.x * dim.x + t.x) as usize;
                let mut value = unsafe {{ *x.get_unchecked(at) }};
                {}
                unsafe {{ *y.get_unchecked_mut(at) = value }}
            }}",
            step.repeat(steps)
        );
        let artifact = compile(&format!("{name}_strategy"), &text, "cpu");
        let strategy = artifact.unwrap().kernels[0].strategy.clone().unwrap();
        let [full, _] = code_along_y(name, &text);
        assert_eq!(!full.is_empty(), strategy.narrow_along_y, "{name}: {full}");
        strategy.narrow_along_y
    };
    let by_thread = "block.y * dim.y + t.y";
    assert!(of("narrow_of_any_size", "dim = 2", by_thread, 1));
    assert!(of("narrow_of_a_size", "dim = 2, block_size = [1, 40, 1]", by_thread, 1));
    assert!(!of("narrow_of_a_wide_size", "dim = 2, block_size = [20, 4, 1]", by_thread, 1));
    assert!(!of("narrow_in_rows", "dim = 1", by_thread, 1));
    assert!(!of("narrow_by_blocks", "dim = 2", "block.y", 1));
    assert!(!of("narrow_and_long", "dim = 2", by_thread, 200));
}

/// Blocks that are narrow along x have shorter vectors there: code of their own where they may have any size, of kernels that
/// are not long, and all code where they have one size.
#[cfg(target_arch = "x86_64")]
#[test]
fn narrow_blocks_have_shorter_vectors() {
    let of = |name: &str, attribute: &str, row: &str, steps: usize| {
        let step = "value = (value ^ (value >> 7)).wrapping_mul(0x9e37_79b9) % (width + 1);";
        let text = format!(
            "use kernelmill_device::prelude::*;
            #[kernel({attribute})]
            pub fn steps(width: u32, x: &[u32], mut y: DisjointSlice<u32>) {{
                let (block, dim, t) = (thread::block_idx(), thread::block_dim(), thread::thread_idx());
                let at = (({row}) * width + block.x * dim.x + t.x) as usize;
                let mut value = unsafe {{ *x.get_unchecked(at) }};
                {}
                unsafe {{ *y.get_unchecked_mut(at) = value }}
            }}",
            step.repeat(steps)
        );
        let artifact = compile(name, &text, "cpu");
        let strategy = artifact.unwrap().kernels[0].strategy.clone().unwrap();
        (strategy.widths.clone(), strategy.narrow_width)
    };
    let by_thread = "block.y * dim.y + t.y";
    let any = vec![8, 16];
    assert_eq!(of("shorter_of_any_size", "dim = 2", by_thread, 1), (any.clone(), 4));
    assert_eq!(of("shorter_in_rows", "dim = 1", by_thread, 1), (any.clone(), 0));
    assert_eq!(of("shorter_by_blocks", "dim = 2", "block.y", 1), (any.clone(), 0));
    assert_eq!(of("shorter_and_long", "dim = 2", by_thread, 200), (any.clone(), 0));
    let sized = |name: &str, block: [u32; 3]| {
        of(name, &format!("dim = 2, block_size = {block:?}"), by_thread, 1)
    };
    assert_eq!(sized("shorter_of_16", [16, 4, 1]), (any.clone(), 0));
    assert_eq!(sized("shorter_of_8", [8, 8, 1]), (vec![8, 8], 0));
    assert_eq!(sized("shorter_of_4", [4, 4, 1]), (vec![4, 4], 0));
    assert_eq!(sized("shorter_of_12", [12, 2, 1]), (vec![8, 4], 0));
    assert_eq!(sized("shorter_of_6", [6, 2, 1]), (vec![8, 8], 0));
    // In columns vectors go along y.
    assert_eq!(sized("shorter_of_columns", [1, 64, 1]), (any, 0));
}

/// Rows that the index along x numbers: vectors go along y, where blocks have that many rows.
#[test]
fn vectors_go_along_y_where_rows_are_numbered_along_x() {
    let of = |name: &str, index: &str| {
        let text = format!(
            "#[kernel(dim = 2)]
            pub fn scaled(width: u32, x: &[u32], mut y: DisjointSlice<u32>) {{
                let (block, dim, t) = (thread::block_idx(), thread::block_dim(), thread::thread_idx());
                let (i, j) = (block.x * dim.x + t.x, block.y * dim.y + t.y);
                unsafe {{ *y.get_unchecked_mut(({index}) as usize) = x.get_unchecked(({index}) as usize) + 1 }}
            }}"
        );
        let text = format!("use kernelmill_device::prelude::*;\n{text}");
        let artifact = compile(&format!("{name}_strategy"), &text, "cpu");
        let strategy = artifact.unwrap().kernels[0].strategy.clone().unwrap();
        assert_eq!(strategy.along_y, index.starts_with('i'), "{name}: {strategy}");
        assert_eq!(strategy.to_string().contains("16 along y"), strategy.along_y, "{strategy}");
        [code(name, &text)[0].clone(), code_along_y(name, &text)[0].clone()]
    };
    let [along_x, along_y] = of("patterns_along_x", "j * width + i");
    assert_eq!(apart(&along_x), 0, "{along_x}");
    assert!(apart(&along_y) > 0, "only narrow blocks have vectors that gather: {along_y}");
    let [along_x, along_y] = of("patterns_along_y", "i * width + j");
    assert!(apart(&along_x) > 0, "{along_x}");
    assert!(!along_y.is_empty() && apart(&along_y) == 0, "{along_y}");
}

/// Coordinates of one number, as kernels on images have them that are launched along x alone.
#[test]
fn coordinates_of_one_number_are_read_at_once() {
    let coordinates = "let (x, y) = (i as u32 % m, i as u32 / m);";
    let value =
        format!("{coordinates} *at((x + y * m) as i32) ^ *at((x + 1 + (y - 1) * m) as i32)");
    let [full, _] = code("coordinates", &kernel("", "u32", &value));
    assert_eq!(apart(&full), 0, "{full}");
    // Of other numbers they are anywhere.
    let value = format!("{coordinates} *at((x + y * (m + 1)) as i32) ^ *at((x * m + y) as i32)");
    let [full, _] = code("coordinates_of_others", &kernel("", "u32", &value));
    assert!(apart(&full) > 0, "{full}");
}

/// Vectors are divided as such: no lane is taken out of them.
#[test]
fn lanes_are_divided_at_once() {
    for (name, value) in
        [("quotients", "i as u32 / (*at(i) | 1)"), ("remainders", "i as u32 % (*at(i) | 1)")]
    {
        let [full, _] = code(name, &kernel("", "u32", value));
        assert!(full.contains("= fdiv <"), "{full}");
        assert!(!full.contains("= udiv") && !full.contains("= urem"), "{full}");
    }
    // Of 64 bits: at once where all are small, and else as they are.
    let value = "(u64::from(*at(i)) * 5 % (u64::from(*at(i + 1)) + 1)) as u32";
    let [full, _] = code("wide_remainders", &kernel("", "u32", value));
    assert!(full.contains("= fdiv <") && full.contains("= urem <"), "{full}");
}

/// A divisor that all threads share is inverted once.
#[test]
fn lanes_are_multiplied_by_the_inverse_of_what_they_share() {
    for (name, value) in [("shared", "*at(i) / (m | 1)"), ("shared_rest", "*at(i) % (m | 1)")] {
        let [full, any] = code(name, &kernel("", "u32", value));
        for code in [full, any] {
            assert!(code.contains("= fmul <") && code.contains("= fdiv double"), "{code}");
            assert!(!code.contains("= fdiv <") && !code.contains("= udiv <"), "{code}");
        }
    }
    let value = "(u64::from(*at(i)) * 5 % (x.len() as u64)) as u32";
    let [full, _] = code("shared_wide", &kernel("", "u32", value));
    assert!(full.contains("= fdiv double") && full.contains("= urem <"), "{full}");
    // LLVM knows what to do by a constant.
    let [full, _] = code("constant", &kernel("", "u32", "*at(i) / 7"));
    assert!(full.contains("= udiv <") && !full.contains("= fdiv"), "{full}");
}

/// Coordinates in an order of their own are looked at: whether they are in a row, forwards or backwards, or all one.
#[test]
fn coordinates_are_looked_at() {
    let coordinates = "let (x, y) = (i as u32 % (m | 1), i as u32 / (m | 1));";
    let looked_at = |code: &str| code.matches("ptrtoint <").count();
    let value = format!("{coordinates} *at((x + (n as u32 - y) * (m | 1)) as i32)");
    let [full, any] = code("rows_from_below", &kernel("", "u32", &value));
    assert_eq!((looked_at(&full), looked_at(&any)), (WIDTHS, 0), "{full}{any}");
    // For any vector, for those in which the quotients are affine, and for four of these at once.
    assert_eq!(apart(&full), 3 * WIDTHS, "{full}");
    // Of what was read nothing is expected, nor of divisors that differ.
    for (name, index) in [
        ("read", "*at(i) / (m | 1)"),
        ("divided", "i as u32 / (*at(i) | 1)"),
        ("product", "i as u32 * m"),
    ] {
        let [full, _] = code(name, &kernel("", "u32", &format!("*at(({index}) as i32)")));
        assert_eq!((looked_at(&full), apart(&full)), (0, WIDTHS), "{name}: {full}");
    }
}

/// Two elements beside each other whose indices are extended apart, read together where no index overflows.
#[test]
fn neighbours_apart_are_read_together() {
    let of_memory = |line: &&str| line.contains("= load <") && line.contains("align 4,");
    let rows = |code: &str| code.lines().filter(of_memory).count();
    let of = |name: &str, d: &str| {
        let indices = format!("let (t, d) = (thread::thread_idx().x as i32, {d});");
        let value = format!("{indices} *at(2 * t - d) ^ *at(2 * t + 1 - d)");
        let [full, _] = code(name, &kernel("", "u32", &value));
        assert_eq!(apart(&full), 0, "{full}");
        rows(&full)
    };
    // Two vectors have the elements of all lanes.
    assert_eq!(of("apart_plain", "0"), 2 * WIDTHS);
    // One index may wrap where the other does not.
    assert_eq!(of("apart_wrapping", "n"), 4 * WIDTHS);
}

/// The same under a condition: rows where all threads are there, and where not a gather each, or with AVX-512 rows of those that
/// are.
#[test]
fn neighbours_apart_are_read_together_where_all_are_there() {
    let value = "let mut sum = *at(i); if sum & m == 0 { sum ^= *at(2 * i) ^ *at(2 * i + 1) } sum";
    let [full, any] = code("apart_some", &kernel("", "u32", value));
    let is_half = |line: &&str| {
        line.contains("shufflevector") && line.contains("<i32 0, i32 2, i32 4, i32 6, i32")
    };
    let halves = |code: &str| code.lines().filter(is_half).count();
    let under_masks = usize::from(cfg!(target_arch = "x86_64"));
    let expected = (2 * WIDTHS, WIDTHS + under_masks);
    assert_eq!((apart(&full), halves(&full)), expected, "{full}");
    assert_eq!((apart(&any) > 0, halves(&any)), (true, 0), "{any}");
}

/// Arrays of single threads: an element of all lanes is one vector, where nothing but whole elements is accessed.
#[test]
fn elements_of_private_arrays_are_accessed_at_once() {
    let of = |name: &str, then: &str| {
        let fill = "for k in 0..m { a[(k & 7) as usize] += *at(i) ^ k; }";
        let value = format!("let mut a = [0u32; 8]; {fill} {then}");
        code(name, &kernel("", "u32", &value))
    };
    let [full, _] = of("private_uniform", "a[(m & 7) as usize]");
    assert_eq!(apart(&full), 0, "{full}");
    // An index of each thread's own: the addresses of the lanes are apart, in the same memory.
    let [own, _] = of("private_own", "a[(*at(i) & 7) as usize]");
    assert!(apart(&own) > 0, "{own}");
    // Bytes of elements, which are not one after the other there.
    let bytes = "u32::from(unsafe { *a.as_ptr().cast::<u8>().add((m & 31) as usize) })";
    let [pieces, _] = of("private_pieces", bytes);
    assert!(apart(&pieces) > apart(&own), "{pieces}");
}
