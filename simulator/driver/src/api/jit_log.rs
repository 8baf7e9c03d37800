//! The options of the compiler that a GPU's driver has for PTX: where its messages go. The simulator has no compiler, but it has messages.

use super::prelude::*;

/// `CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES`, `CU_JIT_ERROR_LOG_BUFFER`, `CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES`, and the number of options
const INFO_LOG_BYTES: u32 = 4;
const ERROR_LOG: u32 = 5;
const ERROR_LOG_BYTES: u32 = 6;
const JIT_OPTIONS: u32 = 36;

/// The caller's buffers for the compiler's messages.
pub struct Logs {
    error: Out<c_char>,
    error_bytes: usize,
    /// The options with the buffers' sizes, to be replaced with the messages' lengths.
    error_length: Option<Out<usize>>,
    info_length: Option<Out<usize>>,
}

impl Logs {
    /// Reads the options of `cuModuleLoadDataEx`. The elements of `values` are the values themselves, numbers and pointers alike.
    pub fn read(count: u32, options: In<u32>, values: Out<usize>) -> Result<Self> {
        let mut logs = Self { error: Out::NULL, error_bytes: 0, error_length: None, info_length: None };
        for index in 0..count as usize {
            let value = values.nth(index);
            value.check()?;
            match options.read_nth(index)? {
                ERROR_LOG => logs.error = value.cast::<Out<c_char>>().as_in().read()?,
                ERROR_LOG_BYTES => {
                    // Only four bytes of the element count. The caller may not have set the others.
                    logs.error_bytes = value.cast::<u32>().as_in().read()? as usize;
                    logs.error_length = Some(value);
                }
                INFO_LOG_BYTES => logs.info_length = Some(value),
                // The others control a compiler that does not exist here: registers, optimization, caching.
                0..JIT_OPTIONS => {}
                _ => refuse!(INVALID_VALUE),
            }
        }
        Ok(logs)
    }

    /// Writes the message of a load, or none, truncated to fit. A NUL ends it. Like a GPU's driver, this sets the length to that of the
    /// message without its NUL, or to that of the whole buffer.
    pub fn write(&self, message: &str) {
        // Without a place for the message, there is nothing to write.
        let _ = self.error.put_text(message, self.error_bytes);
        if let Some(length) = self.error_length {
            length.put_if_asked(message.len().min(self.error_bytes));
        }
        if let Some(length) = self.info_length {
            length.put_if_asked(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_truncated_to_its_buffer_and_its_length_is_set() {
        let (mut log, mut values) = ([1u8; 8], [0usize; 2]);
        values[0] = log.as_mut_ptr() as usize;
        values[1] = 5;
        let options = [ERROR_LOG, ERROR_LOG_BYTES];
        Logs::read(2, In::from(&options), Out::to(&mut values).cast()).unwrap().write("line 3: no");
        assert_eq!(log, *b"line\0\x01\x01\x01");
        assert_eq!(values[1], 5);
    }

    #[test]
    fn an_option_that_does_not_exist_is_refused() {
        let mut values = [0usize];
        assert!(Logs::read(1, In::from(&[JIT_OPTIONS]), Out::to(&mut values).cast()).is_err());
        assert!(Logs::read(1, In::from(&[0]), Out::to(&mut values).cast()).is_ok());
    }
}
