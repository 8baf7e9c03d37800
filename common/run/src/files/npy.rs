//! Reads and writes matrices as NumPy's `.npy` files.
//!
//! The format is a header of one line and the numbers. The crates that read it bring a parser generator for that line, which every
//! chapter would have to build.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::files::input_file;

pub use workloads::matrix::Matrix;

/// A file whose header is read, and whose values are not: they may not fit in the memory of this machine.
#[derive(Debug)]
pub struct Unread {
    /// Rows, at least one.
    pub rows: usize,
    /// Columns, at least one.
    pub columns: usize,
    fortran_order: bool,
    from_bytes: fn([u8; 4]) -> f32,
    path: PathBuf,
    /// Where the values begin. The file has all of them.
    values: BufReader<File>,
}

const WHAT: &str = "matrix";

/// Bytes of the longest header. NumPy itself writes about a hundred.
const LONGEST_HEADER: usize = 1 << 16;

/// Reads the header of a two-dimensional f32 file in either storage order.
/// Fails when the file is damaged or holds something else.
pub fn open(path: &Path) -> Result<Unread> {
    let (file, length) = input_file::open(path, WHAT)?;
    let bad = |reason: String| Error::Input { what: WHAT, path: path.to_owned(), reason };
    let mut file = BufReader::new(file);
    let (header, start) = header(&mut file, length).map_err(bad)?;
    let Some((kind, fortran_order, sides)) = entries(&header) else {
        return Err(bad(format!("it is not a .npy file: its header is `{}`", shown(&header))));
    };
    let &[rows, columns] = &sides[..] else {
        return Err(bad(format!("it has {} dimensions, but a matrix has two", sides.len())));
    };
    let from_bytes = match kind {
        "<f4" => f32::from_le_bytes,
        ">f4" => f32::from_be_bytes,
        _ => return Err(bad(format!("it holds {}, not f32: convert it with `.astype('float32')`", shown(kind)))),
    };
    let shape = format!("{rows} x {columns}");
    let (Ok(rows), Ok(columns)) = (rows.parse::<usize>(), columns.parse::<usize>()) else {
        return Err(bad(format!("a matrix of {} cannot be", shown(&shape))));
    };
    if rows == 0 || columns == 0 {
        return Err(bad(format!("a matrix of {shape} is empty")));
    }
    let found = length - start;
    match (rows as u128).checked_mul(columns as u128).and_then(|count| count.checked_mul(4)) {
        Some(expected) if expected <= u128::from(found) => {}
        Some(expected) => {
            return Err(bad(format!("it ends before its {shape} values do: expected {expected} bytes, found {found}")));
        }
        None => return Err(bad(format!("it ends before its {shape} values do: found {found} bytes"))),
    }
    Ok(Unread { rows, columns, fortran_order, from_bytes, path: path.to_owned(), values: file })
}

/// Writes a file that NumPy reads as a matrix of f32 values.
pub fn write(matrix: &Matrix, file: &mut impl Write) -> std::io::Result<()> {
    let mut buffered = BufWriter::new(file);
    let entries = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", matrix.rows, matrix.columns);
    // With the 10 bytes before it, the header is a multiple of 64 bytes long.
    let length = (10 + entries.len() + 1).next_multiple_of(64) - 10;
    buffered.write_all(MAGIC)?;
    buffered.write_all(&[1, 0])?;
    buffered.write_all(&(length as u16).to_le_bytes())?;
    writeln!(buffered, "{entries:<0$}", length - 1)?;
    for value in &matrix.values {
        buffered.write_all(&value.to_le_bytes())?;
    }
    buffered.flush()
}

/// The first bytes of every file. The format: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>.
const MAGIC: &[u8] = b"\x93NUMPY";

impl Unread {
    /// Reads the values. Fails when a value is not finite.
    pub fn read(self) -> Result<Matrix> {
        let Self { rows, columns, fortran_order, from_bytes, path, values: mut file } = self;
        let bad = |reason: String| Error::Input { what: WHAT, path: path.clone(), reason };
        let mut values = Vec::with_capacity(rows * columns);
        let mut buffer = vec![0; 1 << 16];
        while values.len() < rows * columns {
            let bytes = buffer.len().min(4 * (rows * columns - values.len()));
            file.read_exact(&mut buffer[..bytes]).map_err(|error| bad(error.to_string()))?;
            values.extend(buffer[..bytes].as_chunks().0.iter().copied().map(from_bytes));
        }
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            let (row, column) = if fortran_order { (at % rows, at / rows) } else { (at / columns, at % columns) };
            return Err(bad(format!("the value in row {row} and column {column} is {}, expected a finite number", values[at])));
        }
        let values =
            if fortran_order { (0..rows * columns).map(|at| values[at % columns * rows + at / columns]).collect() } else { values };
        Ok(Matrix { rows, columns, values })
    }
}

/// Returns the header, a Python dictionary, and where the values begin.
fn header(file: &mut impl Read, length: u64) -> Result<(String, u64), String> {
    let mut bytes = |count: usize| {
        let mut bytes = vec![0; count];
        file.read_exact(&mut bytes).ok().map(|()| bytes)
    };
    if bytes(MAGIC.len()).is_none_or(|magic| magic != MAGIC) {
        return Err("it is not a .npy file".into());
    }
    let short = || format!("it is not a whole .npy file: it ends in its header, after {length} bytes");
    let version = bytes(2).ok_or_else(short)?;
    let bytes_of_size = match version[0] {
        1 => 2,
        2 | 3 => 4,
        other => return Err(format!("it is not a .npy file: version {other} of the format, expected 1, 2, or 3")),
    };
    let size = bytes(bytes_of_size).ok_or_else(short)?.iter().rev().fold(0, |size, &byte| size << 8 | usize::from(byte));
    if size > LONGEST_HEADER {
        return Err(format!("it is not a .npy file: a header of {size} bytes, expected {LONGEST_HEADER} at most"));
    }
    let text = String::from_utf8(bytes(size).ok_or_else(short)?).map_err(|_| "it is not a .npy file: its header is no text")?;
    Ok((text, (MAGIC.len() + 2 + bytes_of_size + size) as u64))
}

/// Returns the start of a file's text, fit for one terminal line.
fn shown(text: &str) -> String {
    let start: String = text.trim().chars().take(80).collect();
    start.escape_debug().to_string().replace("\\'", "'")
}

/// Returns the number type, a flag for column-major order, and the shape.
fn entries(header: &str) -> Option<(&str, bool, Vec<&str>)> {
    let entry = |key: &str| Some(header.split_once(&format!("'{key}':"))?.1.trim_start());
    // Records of several fields have a list here.
    let kind = entry("descr")?.strip_prefix('\'').map_or("records", |rest| rest.split('\'').next().unwrap_or_default());
    let fortran_order = entry("fortran_order")?.starts_with("True");
    let sides = entry("shape")?.strip_prefix('(')?.split_once(')')?.0.split(',').map(str::trim);
    let shape: Vec<&str> = sides.filter(|side| !side.is_empty()).collect();
    let is_number = |side: &&str| side.bytes().all(|byte| byte.is_ascii_digit());
    shape.iter().all(is_number).then_some((kind, fortran_order, shape))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Returns a `.npy` file as its definition has it: magic, version 1.0, the length of the header, the header, the numbers.
    fn npy(descr: &str, fortran: &str, shape: &str, numbers: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}");
        let padded = format!("{header:<117}\n");
        [b"\x93NUMPY\x01\x00", (padded.len() as u16).to_le_bytes().as_slice(), padded.as_bytes(), numbers].concat()
    }

    fn bytes(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn read(path: &Path) -> Result<Matrix> {
        open(path)?.read()
    }

    #[test]
    fn both_orders_are_read_and_what_is_written_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        let matrix = Matrix { rows: 2, columns: 3, values: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.5] };
        fs::write(&path, npy("<f4", "False", "(2, 3)", &bytes(&matrix.values))).unwrap();
        assert_eq!(read(&path).unwrap(), matrix);
        fs::write(&path, npy("<f4", "True", "(2, 3)", &bytes(&[1.0, 4.0, 2.0, 5.0, 3.0, 6.5]))).unwrap();
        assert_eq!(read(&path).unwrap(), matrix);
        let swapped: Vec<u8> = matrix.values.iter().flat_map(|value| value.to_be_bytes()).collect();
        fs::write(&path, npy(">f4", "False", "(2, 3)", &swapped)).unwrap();
        assert_eq!(read(&path).unwrap(), matrix);
        write(&matrix, &mut File::create(&path).unwrap()).unwrap();
        assert_eq!(read(&path).unwrap(), matrix);
        assert_eq!(fs::read(&path).unwrap(), npy("<f4", "False", "(2, 3)", &bytes(&matrix.values)));
    }

    #[test]
    fn what_is_no_matrix_of_f32_is_refused_with_the_file_s_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        let one = bytes(&[1.0]);
        for (content, words) in [
            (b"no array".to_vec(), "not a .npy file"),
            (npy("<f8", "False", "(1, 1)", &1.0_f64.to_le_bytes()), "astype('float32')"),
            (npy("<f4", "False", "(1,)", &one), "1 dimensions"),
            (npy("<f4", "False", "(0, 1)", &[]), "0 x 1"),
            (npy("<f4", "False", "(2, 1)", &one), "ends before its 2 x 1 values do: expected 8 bytes, found 4"),
            (npy("<f4", "False", "(4611686018427387904, 4)", &one), "expected 73786976294838206464 bytes, found 4"),
            (npy("<f4", "False", "(18446744073709551615, 18446744073709551615)", &one), "found 4 bytes"),
            (npy("<f4", "False", "(99999999999999999999, 2)", &one), "99999999999999999999 x 2 cannot be"),
            (npy("<f4", "False", "(2, 1", &one), "its header is `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1, }`"),
            (npy("a\u{1b}[1m", "False", "(1, 1)", &one), r"it holds a\u{1b}[1m, not f32"),
            (npy("<f4", "False", "(1, 2)", &bytes(&[1.0, f32::NAN])), "row 0 and column 1 is NaN"),
            (npy("<f4", "True", "(2, 2)", &bytes(&[1.0, f32::INFINITY, 1.0, 1.0])), "row 1 and column 0 is inf"),
            (b"\x93NUMPY\x02\x00\xff\xff\xff\xff".to_vec(), "a header of 4294967295 bytes"),
            (npy("<f4", "False", "(1, x)", &one), "not a .npy file"),
            (npy("<f4", "False", "(1, 1)", &one)[..40].to_vec(), "ends in its header, after 40 bytes"),
            (b"\x93NUMPY\x07\x00".to_vec(), "not a .npy file"),
        ] {
            fs::write(&path, content).unwrap();
            let error = read(&path).unwrap_err().to_string();
            assert!(error.contains(words) && error.contains("a.npy") && error.lines().count() == 1, "{words}: {error}");
        }
        assert!(read(folder.path()).unwrap_err().to_string().contains("folder"));
        assert!(read(&folder.path().join("none.npy")).is_err());
    }
}
