use std::process::Command;

use test_support::{temporary_folder, tool, write_file};

use super::*;

/// The architectures whose cubins are tried: of each form that ptxas writes.
const ARCHS: [&str; 5] = ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"];

/// A kernel with shared memory, a constant, a variable and lines, whose registers have a name.
fn ptx(register: &str) -> String {
    format!(
        ".version 6.3
.target sm_75
.address_size 64
.visible .const .align 4 .f32 scale = 0f40000000;
.visible .global .align 4 .u32 counts[5] = {{1, 2, 3, 4, 5}};
.visible .entry twice(.param .u64 twice_param_0)
{{
  .reg .b64 %{register}<6>;
  .reg .f32 %{register}_f<4>;
  .reg .b32 %{register}_r<3>;
  .shared .align 16 .b8 tile[4096];
  .loc 1 3 7
  ld.param.u64 %{register}1, [twice_param_0];
  cvta.to.global.u64 %{register}2, %{register}1;
  mov.u32 %{register}_r1, %tid.x;
  mul.wide.u32 %{register}3, %{register}_r1, 4;
  add.s64 %{register}4, %{register}2, %{register}3;
  .loc 1 4 9
  ld.global.f32 %{register}_f1, [%{register}4];
  ld.const.f32 %{register}_f2, [scale];
  mul.f32 %{register}_f3, %{register}_f1, %{register}_f2;
  mov.u64 %{register}5, tile;
  st.shared.f32 [tile], %{register}_f3;
  bar.sync 0;
  ld.shared.f32 %{register}_f1, [tile+64];
  .loc 1 5 1
  st.global.f32 [%{register}4], %{register}_f1;
  ret;
}}
.visible .entry once(.param .u64 once_param_0)
{{
  .reg .b64 %{register}<3>;
  .loc 1 9 2
  ld.param.u64 %{register}1, [once_param_0];
  cvta.to.global.u64 %{register}2, %{register}1;
  st.global.u64 [%{register}2], %{register}1;
  ret;
}}
.file 1 \"kernels/twice.rs\"
"
    )
}

/// What ptxas makes of a text; `None` without ptxas.
fn assembled(text: &str, arch: &str) -> Option<Vec<u8>> {
    let ptxas = tool::nvidia("ptxas")?;
    let folder = temporary_folder();
    write_file(&folder, "kernel.ptx", text);
    let mut command = Command::new(ptxas);
    command.current_dir(folder.path()).arg(format!("-arch={arch}"));
    let result = command.args(["-O3", "kernel.ptx", "-o", "kernel.cubin"]).output().unwrap();
    assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
    Some(std::fs::read(folder.path().join("kernel.cubin")).unwrap())
}

fn texts(cubin: &[u8]) -> Vec<Vec<u8>> {
    let elf = Elf::parse(cubin).unwrap();
    let contents = elf.contents().unwrap().into_iter().enumerate();
    let is_text = |index| SECTIONS.iter().any(|it| elf.name(index).unwrap().starts_with(it));
    contents.filter(|(index, _)| is_text(*index)).map(|(_, it)| it.into_owned()).collect()
}

#[test]
fn a_text_is_replaced_as_ptxas_writes_another() {
    for arch in ARCHS {
        for (from, to) in [("r", "register_with_a_long_name"), ("a_rather_long_name", "q")] {
            let Some(cubin) = assembled(&ptx(from), arch) else { return };
            let expected = assembled(&ptx(to), arch).unwrap();
            let text = texts(&expected).remove(0);
            assert_ne!(cubin.len(), expected.len());
            let replaced = with_text(&cubin, |_| text.clone()).unwrap();
            assert!(replaced == expected, "{arch}: {from} {to}");
        }
    }
}

#[test]
fn blank_lines_stay_and_no_other_section_changes() {
    for arch in ARCHS {
        let Some(cubin) = assembled(&ptx("r"), arch) else { return };
        let blank = without_text(cubin.clone());
        assert!(blank.len() < cubin.len(), "{arch}");
        let (before, after) = (Elf::parse(&cubin).unwrap(), Elf::parse(&blank).unwrap());
        let (old, new) = (before.contents().unwrap(), after.contents().unwrap());
        assert_eq!(old.len(), new.len());
        let mut changed = Vec::new();
        for (index, (old, new)) in old.iter().zip(&new).enumerate() {
            assert_eq!(before.name(index), after.name(index));
            if old != new {
                changed.push(before.name(index).unwrap());
                assert!(new.iter().all(|byte| *byte == 0), "{arch}");
                let lines = old.iter().filter(|byte| **byte == 0).count();
                assert_eq!(lines, new.len(), "{arch}");
            }
        }
        assert_eq!(changed.len(), texts(&cubin).len(), "{arch}: {changed:?}");
        assert_eq!(without_text(blank.clone()), blank, "{arch}: twice is once");
    }
}

#[test]
fn what_is_not_laid_out_as_a_finished_cubin_is_left_as_it_is() {
    for bytes in [&b""[..], b"\x7fELF\x02\x01", &[0xff; 4096]] {
        assert_eq!(without_text(bytes.to_vec()), bytes);
    }
    let Some(cubin) = assembled(&ptx("r"), "sm_80") else { return };
    assert_ne!(without_text(cubin.clone()), cubin);
    // A byte that belongs to nothing.
    let behind = [&cubin[..], b"x"].concat();
    assert_eq!(without_text(behind.clone()), behind);
    // A table of sections at another place, and any other header that is broken.
    for place in 0..64 {
        let mut broken = cubin.clone();
        broken[place] ^= 0x55;
        let _ = without_text(broken);
    }
    let mut moved = cubin.clone();
    moved[40] ^= 8;
    assert_eq!(without_text(moved.clone()), moved);
}

#[test]
fn the_tools_read_the_lines_of_a_cubin_without_its_text() {
    let Some(nvdisasm) = tool::nvidia("nvdisasm") else { return };
    let said = |cubin: &[u8], arguments: &[&str]| {
        let folder = temporary_folder();
        let file = write_file(&folder, "kernel.cubin", cubin);
        let result = Command::new(&nvdisasm).args(arguments).arg(file).output().unwrap();
        assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
        String::from_utf8(result.stdout).unwrap()
    };
    for arch in ["sm_80", "sm_100"] {
        let Some(cubin) = assembled(&ptx("r"), arch) else { return };
        let blank = without_text(cubin.clone());
        for arguments in [["-c", "-gi"], ["-c", "-gp"]] {
            assert_eq!(said(&blank, &arguments), said(&cubin, &arguments), "{arch} {arguments:?}");
        }
        let lines = said(&blank, &["-c", "-g"]);
        assert!(lines.contains("kernels/twice.rs\", line 4"), "{lines}");
    }
}
