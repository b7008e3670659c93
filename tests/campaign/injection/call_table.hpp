// Which system calls the supervisor knows, and how it reads them: one row each.
#pragma once

#include <fcntl.h>
#include <string_view>
#include <sys/syscall.h>

namespace cgpo {

// What a call is counted as. One call may be of several kinds.
enum Kind : unsigned {
  kLooks = 1,    // reads of the file system: nothing there changes
  kChanges = 2,  // what changes it, or asks that it lasts
  kOutput = 4,   // writes to standard output and standard error
  kPipes = 8,    // reads and writes of pipes, sockets and devices
  kProcesses = 16,
  kThreads = 32,
  kMemory = 64,
  kRest = 128,
  kOpens = 256,  // beside looking or changing
  kFiles = kLooks | kChanges,
  kAll = 511,
};

// How its words are to be read.
enum class Shape {
  kPath,        // (path, …)
  kPathAt,      // (folder, path, …)
  kTwoPaths,    // (path, path)
  kTwoPathsAt,  // (folder, path, folder, path)
  kFile,        // (file, …)
  kOpen,        // (path, flags)
  kOpenAt,      // (folder, path, flags)
  kWrite,       // (file, bytes, count, …)
  kClone,       // (flags, …)
  kClone3,      // (a struct that begins with flags, …)
  kOther,
};

struct CallRow {
  long number;
  std::string_view name;
  Shape shape;
  unsigned kind;
};

inline constexpr CallRow kCallTable[] = {
    {SYS_open, "open", Shape::kOpen, kLooks},
    {SYS_openat, "openat", Shape::kOpenAt, kLooks},
    {SYS_creat, "creat", Shape::kPath, kChanges},
    {SYS_rename, "rename", Shape::kTwoPaths, kChanges},
    {SYS_renameat, "renameat", Shape::kTwoPathsAt, kChanges},
    {SYS_renameat2, "renameat2", Shape::kTwoPathsAt, kChanges},
    {SYS_link, "link", Shape::kTwoPaths, kChanges},
    {SYS_linkat, "linkat", Shape::kTwoPathsAt, kChanges},
    {SYS_symlink, "symlink", Shape::kTwoPaths, kChanges},
    {SYS_unlink, "unlink", Shape::kPath, kChanges},
    {SYS_unlinkat, "unlinkat", Shape::kPathAt, kChanges},
    {SYS_mkdir, "mkdir", Shape::kPath, kChanges},
    {SYS_mkdirat, "mkdirat", Shape::kPathAt, kChanges},
    {SYS_rmdir, "rmdir", Shape::kPath, kChanges},
    {SYS_truncate, "truncate", Shape::kPath, kChanges},
    {SYS_ftruncate, "ftruncate", Shape::kFile, kChanges},
    {SYS_fallocate, "fallocate", Shape::kFile, kChanges},
    {SYS_chmod, "chmod", Shape::kPath, kChanges},
    {SYS_fchmod, "fchmod", Shape::kFile, kChanges},
    {SYS_fchmodat, "fchmodat", Shape::kPathAt, kChanges},
    {SYS_utimensat, "utimensat", Shape::kPathAt, kChanges},
    {SYS_write, "write", Shape::kWrite, kChanges},
    {SYS_pwrite64, "pwrite64", Shape::kWrite, kChanges},
    {SYS_writev, "writev", Shape::kWrite, kChanges},
    {SYS_sendfile, "sendfile", Shape::kFile, kChanges},
    {SYS_copy_file_range, "copy_file_range", Shape::kFile, kChanges},
    {SYS_fsync, "fsync", Shape::kFile, kChanges},
    {SYS_fdatasync, "fdatasync", Shape::kFile, kChanges},
    {SYS_read, "read", Shape::kFile, kLooks},
    {SYS_readv, "readv", Shape::kFile, kLooks},
    {SYS_pread64, "pread64", Shape::kFile, kLooks},
    {SYS_close, "close", Shape::kFile, kLooks},
    {SYS_lseek, "lseek", Shape::kFile, kLooks},
    {SYS_flock, "flock", Shape::kFile, kLooks},
    {SYS_fcntl, "fcntl", Shape::kFile, kLooks},
    {SYS_fstat, "fstat", Shape::kFile, kLooks},
    {SYS_getdents64, "getdents64", Shape::kFile, kLooks},
    {SYS_stat, "stat", Shape::kPath, kLooks},
    {SYS_lstat, "lstat", Shape::kPath, kLooks},
    {SYS_newfstatat, "newfstatat", Shape::kPathAt, kLooks},
    {SYS_statx, "statx", Shape::kPathAt, kLooks},
    {SYS_statfs, "statfs", Shape::kPath, kLooks},
    {SYS_access, "access", Shape::kPath, kLooks},
    {SYS_faccessat, "faccessat", Shape::kPathAt, kLooks},
    {SYS_faccessat2, "faccessat2", Shape::kPathAt, kLooks},
    {SYS_readlink, "readlink", Shape::kPath, kLooks},
    {SYS_readlinkat, "readlinkat", Shape::kPathAt, kLooks},
    {SYS_fork, "fork", Shape::kOther, kProcesses},
    {SYS_vfork, "vfork", Shape::kOther, kProcesses},
    {SYS_clone, "clone", Shape::kClone, kProcesses},
    {SYS_clone3, "clone3", Shape::kClone3, kProcesses},
    {SYS_mmap, "mmap", Shape::kOther, kMemory},
    {SYS_mremap, "mremap", Shape::kOther, kMemory},
    {SYS_mprotect, "mprotect", Shape::kOther, kMemory},
};

constexpr CallRow find_call(long number) {
  for (const CallRow& row : kCallTable) {
    if (row.number == number) return row;
  }
  return {number, "other", Shape::kOther, kRest};
}

}  // namespace cgpo
