// MPI-IO: a file is opened by all processes together, or by each its own; transfers are independent or collective.
#pragma once

#include <mpi.h>

#include "blocking.hpp"

namespace file_io {

enum class Transfers { independent, collective };

template <Transfers transfers>
class MpiFile {
 public:
  MpiFile(const State& s, const Party& party) : target_(s.p.target) {
    const bool shared = s.p.layout != Layout::per_process;
    const std::string path = s.folder.path(s.file_name(s.reads() ? party.source : party.me));
    const int mode = s.reads() ? MPI_MODE_RDONLY : MPI_MODE_WRONLY | MPI_MODE_CREATE;
    check(MPI_File_open(shared ? MPI_COMM_WORLD : MPI_COMM_SELF, path.c_str(), mode, MPI_INFO_NULL, &file_), "MPI_File_open");
  }
  void write(const char* from, Index bytes, Index offset) {
    const auto call = transfers == Transfers::collective ? &MPI_File_write_at_all : &MPI_File_write_at;
    check(call(file_, offset, const_cast<char*>(from), static_cast<int>(bytes), MPI_BYTE, MPI_STATUS_IGNORE), "MPI_File_write");
  }
  const char* read(char* to, Index bytes, Index offset) {
    const auto call = transfers == Transfers::collective ? &MPI_File_read_at_all : &MPI_File_read_at;
    check(call(file_, offset, to, static_cast<int>(bytes), MPI_BYTE, MPI_STATUS_IGNORE), "MPI_File_read");
    return to;
  }
  void sync() { check(MPI_File_sync(file_), "MPI_File_sync"); }
  void close() { check(MPI_File_close(&file_), "MPI_File_close"); }

 private:
  // Ends the job with the library's own message: it contains the reason of errno.
  void check(int code, const char* call) const {
    if (code == MPI_SUCCESS) return;
    char reason[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, reason, &length);
    fl::abort_all(fl::text("target %s: %s: %s", target_.name.c_str(), call, reason));
  }

  const fl::Storage& target_;
  MPI_File file_ = MPI_FILE_NULL;
};

}  // namespace file_io
