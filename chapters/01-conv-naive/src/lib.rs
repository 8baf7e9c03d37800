//! Chapter 01.
