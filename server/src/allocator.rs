//! The settings of the system's allocator.

/// Limits the address space that the allocator reserves. To be called before the first thread starts.
///
/// glibc reserves 64 MiB for each thread that allocates, up to eight times per processor. Under a limit on address space
/// (`ulimit -v`) little would be left for the threads' stacks, and an allocation fails although most of what is reserved
/// is free. More arenas than threads that work at the same time gain nothing.
#[cfg(target_env = "gnu")]
#[expect(unsafe_code, reason = "the standard library offers no way to set up the allocator")]
pub(crate) fn limit_address_space() {
    const MIN_ARENAS: usize = 4;
    const MAX_ARENAS: usize = 8;
    let arenas = crate::threads::cores().clamp(MIN_ARENAS, MAX_ARENAS);
    // SAFETY: The function takes two numbers, and no other thread exists that could allocate meanwhile. If it fails, the
    // default remains.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, libc::c_int::try_from(arenas).unwrap_or(libc::c_int::MAX)) };
}

/// Other allocators reserve no address space for each thread.
#[cfg(not(target_env = "gnu"))]
pub(crate) fn limit_address_space() {}
