//! Reads and writes matrices as NumPy's `.npy` files.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;

use npyz::{DType, NpyFile, Order, TypeChar, WriterBuilder};

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
    /// [`Error::Array`], when the file cannot be read, is damaged, or holds something else.
    pub fn read(path: &Path) -> Result<Self> {
        let bad = |reason: String| Error::Array { path: path.to_owned(), reason };
        let file = File::open(path).map_err(|error| bad(error.to_string()))?;
        if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
            return Err(bad("it is a folder".into()));
        }
        let npy = NpyFile::new(BufReader::new(file)).map_err(|error| bad(format!("it is not a .npy file: {error}")))?;
        let &[rows, columns] = npy.shape() else {
            return Err(bad(format!("it has {} dimensions, but a matrix has two", npy.shape().len())));
        };
        let is_f32 = matches!(npy.dtype(), DType::Plain(kind) if kind.type_char() == TypeChar::Float && kind.size_field() == 4);
        if !is_f32 {
            return Err(bad(format!("it holds {}, not f32: convert it with `.astype('float32')`", npy.dtype().descr())));
        }
        if rows == 0 || columns == 0 {
            return Err(bad(format!("a matrix of {rows} x {columns} is empty")));
        }
        let order = npy.order();
        let (rows, columns) = (rows as usize, columns as usize);
        let values: Vec<f32> = npy.into_vec().map_err(|error| bad(error.to_string()))?;
        let values = match order {
            Order::C => values,
            Order::Fortran => (0..rows * columns).map(|at| values[at % columns * rows + at / columns]).collect(),
        };
        Ok(Self { rows, columns, values })
    }

    /// Writes a file that NumPy reads as a matrix of f32 values.
    ///
    /// # Errors
    ///
    /// The system's error, when writing fails.
    pub fn write(&self, file: &mut impl Write) -> std::io::Result<()> {
        let mut buffered = BufWriter::new(file);
        let shape = [self.rows as u64, self.columns as u64];
        let mut writer = npyz::WriteOptions::<f32>::new().default_dtype().shape(&shape).writer(&mut buffered).begin_nd()?;
        writer.extend(self.values.iter().copied())?;
        writer.finish()?;
        buffered.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

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
        matrix.write(&mut File::create(&path).unwrap()).unwrap();
        assert_eq!(Matrix::read(&path).unwrap(), matrix);
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
            (npy("<f4", "False", "(2, 1)", &one), "a.npy"),
        ] {
            fs::write(&path, content).unwrap();
            let error = Matrix::read(&path).unwrap_err().to_string();
            assert!(error.contains(words) && error.contains("a.npy") && error.lines().count() == 1, "{words}: {error}");
        }
        assert!(Matrix::read(folder.path()).unwrap_err().to_string().contains("folder"));
        assert!(Matrix::read(&folder.path().join("none.npy")).is_err());
    }
}
