//! Variables of the device, by the names that the program has for them.

use std::ffi::c_void;

use crate::export::exports;
use crate::pointer::{Address, Ptr};
use crate::registry;

exports! {
    brief {
        cudaGetSymbolAddress(address: Ptr<Address>, symbol: Ptr<c_void>) => address.fill(|| Ok(registry::variable(symbol)?.0));
        cudaGetSymbolSize(bytes: Ptr<usize>, symbol: Ptr<c_void>) => bytes.fill(|| Ok(registry::variable(symbol)?.1));
    }
}
