//! Reads and writes matrices as NumPy's `.npy` files.
//!
//! The format is a header of one line and the numbers. The crates that read it bring a parser generator for that line, which every
//! chapter would have to build.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;

use crate::error::{Error, Result};

/// A matrix of floats, row after row.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// Rows, at least one.
    pub rows: usize,
    /// Columns, at least one.
    pub columns: usize,
    /// `rows * columns` values.
    pub values: Vec<f32>,
}

impl Matrix {
    /// Reads a file with two dimensions of f32 values, whichever order they are stored in.
    ///
    /// # Errors
    ///
    /// [`Error::Input`], when the file cannot be read, is damaged, or holds something else.
    pub fn read(path: &Path) -> Result<Self> {
        let bad = |reason: String| Error::Input { what: "matrix", path: path.to_owned(), reason };
        if path.is_dir() {
            return Err(bad("it is a folder".into()));
        }
        let bytes = fs::read(path).map_err(|error| bad(error.to_string()))?;
        let (header, numbers) = header(&bytes).ok_or_else(|| bad("it is not a .npy file".into()))?;
        let Some((kind, fortran_order, shape)) = entries(header) else {
            return Err(bad("it is not a .npy file: its header cannot be read".into()));
        };
        let &[rows, columns] = &shape[..] else {
            return Err(bad(format!("it has {} dimensions, but a matrix has two", shape.len())));
        };
        let from_bytes = match kind {
            "<f4" => f32::from_le_bytes,
            ">f4" => f32::from_be_bytes,
            _ => return Err(bad(format!("it holds {kind}, not f32: convert it with `.astype('float32')`"))),
        };
        if rows == 0 || columns == 0 {
            return Err(bad(format!("a matrix of {rows} x {columns} is empty")));
        }
        let length = rows.checked_mul(columns).and_then(|count| count.checked_mul(4));
        let Some(numbers) = length.and_then(|length| numbers.get(..length)) else {
            return Err(bad(format!("it ends before its {rows} x {columns} values do")));
        };
        let values: Vec<f32> = numbers.as_chunks().0.iter().copied().map(from_bytes).collect();
        let values =
            if fortran_order { (0..rows * columns).map(|at| values[at % columns * rows + at / columns]).collect() } else { values };
        Ok(Self { rows, columns, values })
    }

    /// Writes a file that NumPy reads as a matrix of f32 values.
    ///
    /// # Errors
    ///
    /// The system's error, when writing fails.
    pub fn write(&self, file: &mut impl Write) -> std::io::Result<()> {
        let mut buffered = BufWriter::new(file);
        let entries = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", self.rows, self.columns);
        // With the 10 bytes before it, the header is a multiple of 64 bytes long.
        let length = (10 + entries.len() + 1).next_multiple_of(64) - 10;
        buffered.write_all(MAGIC)?;
        buffered.write_all(&[1, 0])?;
        buffered.write_all(&(length as u16).to_le_bytes())?;
        writeln!(buffered, "{entries:<0$}", length - 1)?;
        for value in &self.values {
            buffered.write_all(&value.to_le_bytes())?;
        }
        buffered.flush()
    }
}

/// The first bytes of every file. The format: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>.
const MAGIC: &[u8] = b"\x93NUMPY";

/// The header, a Python dictionary, and the bytes after it.
fn header(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let (version, rest) = bytes.strip_prefix(MAGIC)?.split_first_chunk::<2>()?;
    let (length, rest) = match version[0] {
        1 => rest.split_first_chunk().map(|(&length, rest)| (usize::from(u16::from_le_bytes(length)), rest))?,
        2 | 3 => rest.split_first_chunk().map(|(&length, rest)| (u32::from_le_bytes(length) as usize, rest))?,
        _ => return None,
    };
    let (header, numbers) = rest.split_at_checked(length)?;
    Some((std::str::from_utf8(header).ok()?, numbers))
}

/// The kind of the numbers, whether columns are stored one after the other, and the shape.
fn entries(header: &str) -> Option<(&str, bool, Vec<usize>)> {
    let entry = |key: &str| Some(header.split_once(&format!("'{key}':"))?.1.trim_start());
    // Records of several fields have a list here.
    let kind = entry("descr")?.strip_prefix('\'').map_or("records", |rest| rest.split('\'').next().unwrap_or_default());
    let fortran_order = entry("fortran_order")?.starts_with("True");
    let sides = entry("shape")?.strip_prefix('(')?.split_once(')')?.0.split(',').map(str::trim);
    let shape: Option<Vec<usize>> = sides.filter(|side| !side.is_empty()).map(|side| side.parse().ok()).collect();
    Some((kind, fortran_order, shape?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    /// A `.npy` file as its definition has it: magic, version 1.0, the length of the header, the header, the numbers.
    fn npy(descr: &str, fortran: &str, shape: &str, numbers: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}");
        let padded = format!("{header:<117}\n");
        [b"\x93NUMPY\x01\x00", (padded.len() as u16).to_le_bytes().as_slice(), padded.as_bytes(), numbers].concat()
    }

    fn bytes(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    #[test]
    fn both_orders_are_read_and_what_is_written_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        let matrix = Matrix { rows: 2, columns: 3, values: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.5] };
        fs::write(&path, npy("<f4", "False", "(2, 3)", &bytes(&matrix.values))).unwrap();
        assert_eq!(Matrix::read(&path).unwrap(), matrix);
        fs::write(&path, npy("<f4", "True", "(2, 3)", &bytes(&[1.0, 4.0, 2.0, 5.0, 3.0, 6.5]))).unwrap();
        assert_eq!(Matrix::read(&path).unwrap(), matrix);
        let swapped: Vec<u8> = matrix.values.iter().flat_map(|value| value.to_be_bytes()).collect();
        fs::write(&path, npy(">f4", "False", "(2, 3)", &swapped)).unwrap();
        assert_eq!(Matrix::read(&path).unwrap(), matrix);
        matrix.write(&mut File::create(&path).unwrap()).unwrap();
        assert_eq!(Matrix::read(&path).unwrap(), matrix);
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
            (npy("<f4", "False", "(2, 1)", &one), "ends before its 2 x 1 values"),
            (npy("<f4", "False", "(4611686018427387904, 4)", &one), "ends before"),
            (npy("<f4", "False", "(1, x)", &one), "not a .npy file"),
            (npy("<f4", "False", "(1, 1)", &one)[..40].to_vec(), "not a .npy file"),
            (b"\x93NUMPY\x07\x00".to_vec(), "not a .npy file"),
        ] {
            fs::write(&path, content).unwrap();
            let error = Matrix::read(&path).unwrap_err().to_string();
            assert!(error.contains(words) && error.contains("a.npy") && error.lines().count() == 1, "{words}: {error}");
        }
        assert!(Matrix::read(folder.path()).unwrap_err().to_string().contains("folder"));
        assert!(Matrix::read(&folder.path().join("none.npy")).is_err());
    }
}
