//! Thresholds in TOML: `thresholds = { registers = 64, spills = 0 }`.

use super::{
    super::thresholds::{THRESHOLD_KEYS, Thresholds},
    Key, Reader, in_source_order, number,
};

impl Reader<'_> {
    pub(super) fn thresholds(&mut self, (name, value): Key<'_, '_>) -> Thresholds {
        let mut thresholds = Thresholds::NONE;
        let Some(table) = value.get_ref().as_table() else {
            self.wrong(name, value, "a table, for example `{ registers = 64, spills = 0 }`");
            return thresholds;
        };
        for (name, value) in in_source_order(table) {
            let place = match name.get_ref().as_ref() {
                "registers" => &mut thresholds.registers,
                "spills" => &mut thresholds.spills,
                "stack-bytes" => &mut thresholds.stack_bytes,
                "shared-bytes" => &mut thresholds.shared_bytes,
                unknown => {
                    self.unknown(unknown, name.span(), &THRESHOLD_KEYS);
                    continue;
                }
            };
            *place = number(value.get_ref());
            if place.is_none() {
                self.wrong(name.get_ref(), value, "a number, 0 or more");
            }
        }
        thresholds
    }
}
