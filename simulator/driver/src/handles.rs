//! Tokens for the objects that a program holds.
//!
//! A program may hand back any number as a handle: destroyed, never made, of another kind. A handle is therefore a name that is looked
//! up and never a pointer that is followed, and no token is used twice, so a stale one cannot come to mean something new.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::context::Context;
use crate::error::{CuResult, Result};
use crate::event::Event;
use crate::ffi::Handle;
use crate::function::Function;
use crate::module::Module;
use crate::pool::Pool;
use crate::stream::Stream;

/// First token. No processor that we run on has such an address, so a program that follows a handle faults at once.
const FIRST_TOKEN: usize = 0x5100_0000_0000_0000;

/// Every live object, by token.
#[derive(Debug)]
pub struct Handles {
    next: AtomicUsize,
    table: RwLock<HashMap<Handle, Object>>,
}

/// An object of any kind.
#[derive(Clone, Debug)]
pub enum Object {
    Context(Arc<Context>),
    Module(Arc<Module>),
    Function(Arc<Function>),
    Stream(Arc<Stream>),
    Event(Arc<Event>),
    Pool(Arc<Pool>),
}

/// A kind of object.
pub trait Kind: Sized {
    /// What a function returns that is given a bad handle of this kind.
    const BAD_HANDLE: CuResult;
    fn from_object(object: &Object) -> Option<&Arc<Self>>;
    fn into_object(this: Arc<Self>) -> Object;
}

macro_rules! kinds {
    ($($kind:ident: $bad:ident,)*) => {$(
        impl Kind for $kind {
            const BAD_HANDLE: CuResult = CuResult::$bad;

            fn from_object(object: &Object) -> Option<&Arc<Self>> {
                match object {
                    Object::$kind(found) => Some(found),
                    _ => None,
                }
            }

            fn into_object(this: Arc<Self>) -> Object {
                Object::$kind(this)
            }
        }
    )*};
}

kinds! {
    Context: INVALID_CONTEXT,
    Module: INVALID_HANDLE,
    Function: INVALID_HANDLE,
    Stream: INVALID_HANDLE,
    Event: INVALID_HANDLE,
    Pool: INVALID_VALUE,
}

impl Object {
    /// The context that the object goes with when it is destroyed.
    fn context(&self) -> Option<Handle> {
        match self {
            Object::Module(module) => Some(module.context.handle),
            Object::Function(function) => Some(function.context.handle),
            Object::Stream(stream) => Some(stream.context.handle),
            Object::Event(event) => Some(event.context.handle),
            Object::Context(_) | Object::Pool(_) => None,
        }
    }
}

impl Default for Handles {
    fn default() -> Self {
        Self { next: AtomicUsize::new(FIRST_TOKEN), table: RwLock::default() }
    }
}

impl Handles {
    /// A token that nothing has.
    pub fn reserve(&self) -> Handle {
        // Steps of 16, because programs tag the low bits of what they take for pointers.
        Handle(self.next.fetch_add(16, Relaxed))
    }

    /// Makes an object that knows its own token.
    pub fn insert<T: Kind>(&self, make: impl FnOnce(Handle) -> T) -> Arc<T> {
        let handle = self.reserve();
        self.insert_at(handle, make(handle))
    }

    /// Puts an object under a reserved token.
    pub fn insert_at<T: Kind>(&self, handle: Handle, object: T) -> Arc<T> {
        let object = Arc::new(object);
        self.write().insert(handle, T::into_object(object.clone()));
        object
    }

    /// The object of that token.
    pub fn get<T: Kind>(&self, handle: Handle) -> Result<Arc<T>> {
        self.read().get(&handle).and_then(T::from_object).cloned().ok_or(T::BAD_HANDLE.into())
    }

    /// Takes the object out, so that its token means nothing from then on.
    pub fn remove<T: Kind>(&self, handle: Handle) -> Result<Arc<T>> {
        let mut table = self.write();
        let object = table.get(&handle).and_then(T::from_object).cloned().ok_or(T::BAD_HANDLE)?;
        table.remove(&handle);
        Ok(object)
    }

    /// Takes out every object for which `gone` holds.
    pub fn remove_all(&self, mut gone: impl FnMut(&Object) -> bool) {
        let mut table = self.write();
        let removed: Vec<Handle> = table.iter().filter(|(_, object)| gone(object)).map(|(&handle, _)| handle).collect();
        let dropped: Vec<Object> = removed.iter().filter_map(|handle| table.remove(handle)).collect();
        // Dropping a module frees memory; the table need not be locked for that.
        drop(table);
        drop(dropped);
    }

    /// Takes out everything that belongs to a context, and the context itself.
    pub fn remove_context(&self, context: Handle) {
        self.remove_all(|object| object.context() == Some(context));
        self.remove_all(|object| matches!(object, Object::Context(found) if found.handle == context));
    }

    // The table is whole after a panic too: a change to it is one insert or one removal.
    fn read(&self) -> RwLockReadGuard<'_, HashMap<Handle, Object>> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, HashMap<Handle, Object>> {
        self.table.write().unwrap_or_else(PoisonError::into_inner)
    }
}
