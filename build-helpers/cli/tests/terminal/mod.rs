//! A pseudo terminal, and what is on it in the end, as far as progress bars go.

use std::{
    fs::File,
    io::Read as _,
    os::fd::{AsRawFd as _, FromRawFd as _},
    process::{Command, Stdio},
    ptr,
};

/// What a program wrote.
pub(crate) struct Shown {
    /// All of it.
    pub(crate) text: String,
    /// The lines that are left in the end.
    pub(crate) left: Vec<String>,
    /// Each row as it was when it was left or cleared.
    pub(crate) drawn: Vec<String>,
    pub(crate) is_success: bool,
}

/// Runs a program with its standard error on a terminal of so many columns.
pub(crate) fn run(command: &mut Command, columns: u16) -> Shown {
    let size = libc::winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    let (mut own, mut device) = (-1, -1);
    let (name, mode) = (ptr::null_mut(), ptr::null());
    // SAFETY: two places for descriptors, and a size; no name and no mode are asked for.
    let opened =
        unsafe { libc::openpty(&raw mut own, &raw mut device, name, mode, &raw const size) };
    assert_eq!(opened, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: descriptors that were opened above, and that nobody else has.
    let (mut own, device) = unsafe { (File::from_raw_fd(own), File::from_raw_fd(device)) };
    // Children that other tests start meanwhile would keep it open.
    // SAFETY: a flag of a descriptor that is open.
    unsafe { libc::fcntl(device.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) };
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::from(device))
        .env_remove("CARGO_TERM_COLOR")
        .env("TERM", "xterm")
        .spawn()
        .expect("the program starts");
    // The end of the device in this process.
    command.stderr(Stdio::null());
    let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
    // An error where nobody has the device any more.
    while let Ok(read @ 1..) = own.read(&mut part) {
        bytes.extend_from_slice(&part[..read]);
    }
    let is_success = child.wait().expect("the program ends").success();
    let text = String::from_utf8(bytes).expect("the program writes text");
    Screen::default().shown(text, usize::from(columns), is_success)
}

#[derive(Default)]
struct Screen {
    lines: Vec<Vec<char>>,
    row: usize,
    column: usize,
    drawn: Vec<String>,
}

impl Screen {
    fn shown(mut self, text: String, columns: usize, is_success: bool) -> Shown {
        let mut rest = text.as_str();
        while let Some(first) = rest.chars().next() {
            rest = &rest[first.len_utf8()..];
            match first {
                '\r' => self.column = 0,
                '\n' => {
                    self.drawn.push(self.line());
                    self.row += 1;
                }
                '\x1b' => {
                    let rest_of = rest.strip_prefix('[').expect("a control sequence");
                    let end = rest_of.find(|c: char| c.is_ascii_alphabetic()).expect("its letter");
                    self.control(&rest_of[..end], &rest_of[end..=end]);
                    rest = &rest_of[end + 1..];
                }
                letter => self.put(letter, columns),
            }
        }
        let left = self.lines.iter().map(|line| line.iter().collect::<String>());
        let left = left.map(|line| line.trim_end().to_owned()).filter(|line| !line.is_empty());
        let left = left.collect();
        Shown { text, left, drawn: self.drawn, is_success }
    }

    fn line(&self) -> String {
        self.lines.get(self.row).map(|line| line.iter().collect()).unwrap_or_default()
    }

    fn put(&mut self, letter: char, columns: usize) {
        if self.column == columns {
            self.drawn.push(self.line());
            (self.row, self.column) = (self.row + 1, 0);
        }
        if self.lines.len() <= self.row {
            self.lines.resize(self.row + 1, Vec::new());
        }
        let line = &mut self.lines[self.row];
        if line.len() <= self.column {
            line.resize(self.column + 1, ' ');
        }
        line[self.column] = letter;
        self.column += 1;
    }

    fn control(&mut self, number: &str, letter: &str) {
        let count = number.parse().unwrap_or(1);
        match letter {
            "A" => self.row = self.row.saturating_sub(count),
            "B" => self.row += count,
            "K" => {
                self.drawn.push(self.line());
                if let Some(line) = self.lines.get_mut(self.row) {
                    line.truncate(if number == "2" { 0 } else { self.column });
                }
            }
            // Colours, and whether the cursor is shown.
            "m" | "h" | "l" => {}
            _ => panic!("the control sequence {number}{letter} is not known here"),
        }
    }
}
