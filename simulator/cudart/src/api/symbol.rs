//! Variables of the device, by the names that the program has for them.

use std::ffi::c_void;

use crate::export::exports;
use crate::pointer::{Address, Ptr};
use crate::registry;

exports! {
    fn cudaGetSymbolAddress(address: Ptr<Address>, symbol: Ptr<c_void>) {
        address.check()?;
        address.put(registry::variable(symbol)?.0)
    }

    fn cudaGetSymbolSize(bytes: Ptr<usize>, symbol: Ptr<c_void>) {
        bytes.check()?;
        bytes.put(registry::variable(symbol)?.1)
    }
}
