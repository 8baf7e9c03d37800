//! Handles: tokens for the objects that a program holds.
//!
//! A program may pass any number as a handle: one that was destroyed, one that never existed, one of another kind. So a handle is a key
//! that is looked up, never a pointer that is followed. No token is used twice, so a stale handle cannot start to mean something new.
//!
//! The table knows no kind of object: each module implements [`Kind`] for its own.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use parking_lot::RwLock;

use crate::result::{CuResult, Result};

/// First token. No processor that we run on has such an address, so a program that follows a handle faults at once.
const FIRST_TOKEN: usize = 0x5100_0000_0000_0000;

/// An opaque handle (`CUcontext`, `CUstream`, …). Only [`Handles`] makes new ones.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Handle(usize);

impl Handle {
    pub const NULL: Self = Self(0);
    /// `CU_STREAM_LEGACY`
    pub const LEGACY_STREAM: Self = Self(1);
    /// `CU_STREAM_PER_THREAD`
    pub const PER_THREAD_STREAM: Self = Self(2);

    /// Returns the handle with this number, which may be of no object.
    pub fn from_number(number: u64) -> Self {
        Self(number as usize)
    }

    /// Returns the token as a number, for calls that return an ID.
    pub fn number(self) -> u64 {
        self.0 as u64
    }
}

/// A kind of object.
pub trait Kind: Any + Send + Sync {
    /// The result for a handle of no live object of this kind.
    const BAD_HANDLE: CuResult;

    /// Returns the context that this object is destroyed with.
    fn context(&self) -> Option<Handle>;
}

/// Implements [`Kind`] for a type, with its result for a bad handle. An object `of its context` is destroyed with that one.
macro_rules! kind {
    ($kind:ident: $bad_handle:ident $(, of its $context:ident)?) => {
        impl $crate::handles::Kind for $kind {
            const BAD_HANDLE: $crate::result::CuResult = $crate::result::CuResult::$bad_handle;

            fn context(&self) -> Option<$crate::handles::Handle> {
                None$(.or(Some(self.$context.handle)))?
            }
        }
    };
}

pub(crate) use kind;

struct Object {
    context: Option<Handle>,
    object: Arc<dyn Any + Send + Sync>,
}

impl Object {
    fn downcast<T: Kind>(&self) -> Option<Arc<T>> {
        self.object.clone().downcast().ok()
    }
}

pub struct Handles {
    next: AtomicUsize,
    table: RwLock<HashMap<Handle, Object>>,
}

impl Default for Handles {
    fn default() -> Self {
        Self { next: AtomicUsize::new(FIRST_TOKEN), table: RwLock::default() }
    }
}

impl Handles {
    /// Reserves a handle that no object has.
    pub fn reserve(&self) -> Handle {
        // Steps of 16, because programs store tags in the low bits of what they take for pointers.
        Handle(self.next.fetch_add(16, Relaxed))
    }

    /// Makes an object that knows its own handle.
    pub fn insert<T: Kind>(&self, make: impl FnOnce(Handle) -> T) -> Arc<T> {
        let handle = self.reserve();
        self.insert_at(handle, make(handle))
    }

    /// Stores an object under a reserved handle.
    pub fn insert_at<T: Kind>(&self, handle: Handle, object: T) -> Arc<T> {
        let object = Arc::new(object);
        self.table.write().insert(handle, Object { context: object.context(), object: object.clone() });
        object
    }

    /// Gives an object another handle, which goes with a context.
    pub fn insert_alias<T: Kind>(&self, handle: Handle, object: &Arc<T>, context: Option<Handle>) {
        self.table.write().insert(handle, Object { context, object: object.clone() });
    }

    pub fn get<T: Kind>(&self, handle: Handle) -> Result<Arc<T>> {
        self.table.read().get(&handle).and_then(Object::downcast).ok_or(T::BAD_HANDLE.into())
    }

    /// Stores an object that does not know its handle, and returns that.
    pub fn add<T: Kind>(&self, object: T) -> Handle {
        let handle = self.reserve();
        self.insert_at(handle, object);
        handle
    }

    /// Removes the object with this handle. From then on, the handle means nothing.
    pub fn remove<T: Kind>(&self, handle: Handle) -> Result<Arc<T>> {
        let mut table = self.table.write();
        let object = table.get(&handle).and_then(Object::downcast).ok_or(T::BAD_HANDLE)?;
        table.remove(&handle);
        Ok(object)
    }

    /// Removes a context and everything that belongs to it.
    pub fn remove_context(&self, context: Handle) {
        let mut table = self.table.write();
        let removed: Vec<Object> = table
            .extract_if(|&handle, object| handle == context || object.context == Some(context))
            .map(|(_, object)| object)
            .collect();
        // Dropping a module frees its memory, which does not need the lock.
        drop(table);
        drop(removed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Owner;
    struct Owned(Handle);

    impl Kind for Owner {
        const BAD_HANDLE: CuResult = CuResult::INVALID_CONTEXT;

        fn context(&self) -> Option<Handle> {
            None
        }
    }

    impl Kind for Owned {
        const BAD_HANDLE: CuResult = CuResult::INVALID_HANDLE;

        fn context(&self) -> Option<Handle> {
            Some(self.0)
        }
    }

    #[test]
    fn a_handle_is_only_good_for_its_own_kind_and_only_once() {
        let handles = Handles::default();
        let handle = handles.reserve();
        handles.insert_at(handle, Owner);
        assert!(handles.get::<Owner>(handle).is_ok());
        assert_eq!(handles.get::<Owned>(handle).err().unwrap().code, CuResult::INVALID_HANDLE);
        assert_eq!(handles.remove::<Owned>(handle).err().unwrap().code, CuResult::INVALID_HANDLE);
        assert!(handles.remove::<Owner>(handle).is_ok());
        assert_eq!(handles.remove::<Owner>(handle).err().unwrap().code, CuResult::INVALID_CONTEXT);
        assert_ne!(handles.reserve(), handle);
    }

    #[test]
    fn a_context_takes_what_belongs_to_it_along() {
        let handles = Handles::default();
        let [context, other, owned, kept] = [(); 4].map(|()| handles.reserve());
        handles.insert_at(context, Owner);
        handles.insert_at(other, Owner);
        handles.insert_at(owned, Owned(context));
        handles.insert_at(kept, Owned(other));
        handles.remove_context(context);
        assert!(handles.get::<Owner>(context).is_err() && handles.get::<Owned>(owned).is_err());
        assert!(handles.get::<Owner>(other).is_ok() && handles.get::<Owned>(kept).is_ok());
    }
}
