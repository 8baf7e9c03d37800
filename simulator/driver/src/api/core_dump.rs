//! Settings of core dumps. They are stored and returned. The simulator writes no core dump, because its findings say what happened.

use std::collections::BTreeMap;

use super::prelude::*;

/// `CU_COREDUMP_TRIGGER_HOST`, `_FILE`, `_PIPE`, `_GENERATION_FLAGS`
const TRIGGER_HOST: u32 = 2;
const FILE: u32 = 5;
const PIPE: u32 = 6;
const GENERATION_FLAGS: u32 = 7;
/// The bytes of a file's name, its NUL included.
const NAME_BYTES: usize = 1024;

/// The program's settings, by the attribute's number.
type Values = Mutex<BTreeMap<u32, Vec<u8>>>;

/// Returns the largest size of an attribute's value, and its initial value.
fn described(attribute: u32) -> Result<(usize, Vec<u8>)> {
    let host = || std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_else(|_| "localhost".to_owned());
    let name = |start: &str| format!("{start}.cuda.{}.{}\0", host().trim(), std::process::id()).into_bytes();
    Ok(match attribute {
        TRIGGER_HOST => (1, vec![1]),
        1 | 3 | 4 => (1, vec![0]),
        FILE => (NAME_BYTES, name("core")),
        PIPE => (NAME_BYTES, name("corepipe")),
        GENERATION_FLAGS => (4, vec![0; 4]),
        _ => refuse!(INVALID_VALUE),
    })
}

fn get(stored: &[&Values], attribute: u32, value: HostBytes, size: Out<usize>) -> Result<()> {
    size.check()?;
    let (most, initial) = described(attribute)?;
    if value.is_null() {
        return size.put(most);
    }
    let found = stored.iter().find_map(|values| values.lock().get(&attribute).cloned());
    let found = found.unwrap_or(initial);
    refuse!(INVALID_VALUE if size.as_in().read()? < found.len());
    value.with_mut(found.len(), |value| value.copy_from_slice(&found))?;
    size.put(found.len())
}

fn set(values: &Values, attribute: u32, value: HostBytes, size: Out<usize>) -> Result<()> {
    let (size, most) = (size.as_in().read()?, described(attribute)?.0);
    let is_name = matches!(attribute, FILE | PIPE);
    refuse!(INVALID_VALUE if size == 0 || size > most || (!is_name && size != most));
    let mut given = value.read(size)?;
    if is_name && !given.contains(&0) {
        given.push(0);
    }
    values.lock().insert(attribute, given);
    Ok(())
}

exports! {
    fn cuCoredumpGetAttribute(attribute: u32, value: HostBytes, size: Out<usize>) {
        let (driver, context) = context::current_even_if_faulted()?;
        get(&[&context.core_dumps, &driver.core_dumps], attribute, value, size)
    }

    fn cuCoredumpGetAttributeGlobal(attribute: u32, value: HostBytes, size: Out<usize>) =>
        get(&[&driver()?.core_dumps], attribute, value, size);
    fn cuCoredumpSetAttribute(attribute: u32, value: HostBytes, size: Out<usize>) =>
        set(&context::current_even_if_faulted()?.1.core_dumps, attribute, value, size);
    fn cuCoredumpSetAttributeGlobal(attribute: u32, value: HostBytes, size: Out<usize>) =>
        set(&driver()?.core_dumps, attribute, value, size);
}
