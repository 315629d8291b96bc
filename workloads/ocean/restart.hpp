// Restart files, one of each process: written under a temporary name, brought to the disk, renamed; read only if every block is what was
// written. They have whole fields with their halos, so the same number of processes continues the run.
#pragma once

#include <cstring>
#include <filesystem>

#include "firstlight/checkpoint/container.hpp"
#include "sea.hpp"

namespace ocean {

class Restart {
 public:
  using Levels = std::vector<Flow*>;

  void open(const char* workload, int rank) {
    const auto name =
        fl::text("%s-%016llx-%d-%lld", workload, static_cast<unsigned long long>(fl::seed()), rank, static_cast<Index>(getpid()));
    path_ = (std::filesystem::temp_directory_path() / name).string();
    rank_ = rank;
  }
  void close() { std::filesystem::remove(path_); }

  // Time steps that are done, and all that the next ones need.
  void keep(Index done, const Levels& levels) {
    std::size_t at = 0;
    each(levels, [&](double*, std::size_t bytes) { at += bytes; });
    packed_.resize(at), at = 0;
    each(levels, [&](double* data, std::size_t bytes) { std::memcpy(packed_.data() + at, data, bytes), at += bytes; });
    or_abort([&] {
      fl::checkpoints::Journal journal;
      const auto sums = fl::checkpoints::sums_of(packed_.data(), packed_.size());
      fl::checkpoints::write_container(path_, static_cast<std::uint64_t>(done), rank_, packed_.data(), packed_.size(), sums, journal);
      fl::checkpoints::rename_file(path_ + fl::checkpoints::unfinished, path_);
      fl::checkpoints::sync_folder(std::filesystem::path(path_).parent_path().string(), journal);
    });
  }
  // Fills the levels; returns how many time steps are done.
  Index take(const Levels& levels) const {
    std::uint64_t done = 0;
    or_abort([&] {
      done = fl::checkpoints::generation_of(path_);
      const auto found = fl::checkpoints::read_container(path_, done, rank_);
      std::size_t at = 0;
      each(levels, [&](double*, std::size_t bytes) { at += bytes; });
      if (at != found.data.size()) throw fl::checkpoints::Failure(path_ + " has fields of other sizes");
      at = 0;
      each(levels, [&](double* data, std::size_t bytes) { std::memcpy(data, found.data.data() + at, bytes), at += bytes; });
    });
    return static_cast<Index>(done);
  }

 private:
  template <class Visit>
  static void each(const Levels& levels, const Visit& visit) {
    for (Flow* level : levels)
      for (auto* field : level->all()) visit(field->data(), static_cast<std::size_t>(field->layout().elements) * sizeof(double));
  }
  template <class Work>
  static void or_abort(const Work& work) {
    try {
      work();
    } catch (const fl::checkpoints::Failure& failure) {
      fl::abort_all(failure.what());
    }
  }

  std::string path_;
  int rank_ = 0;
  fl::checkpoints::Bytes packed_;
};

}  // namespace ocean
