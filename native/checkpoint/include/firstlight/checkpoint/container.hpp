// A container: one file with bytes in blocks, a checksum of each, and a head that names generation and member. A reader accepts a block
// only if its sum agrees, and the table of sums only if its digest is that of the head.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "firstlight/checkpoint/disk.hpp"
#include "firstlight/checkpoint/sums.hpp"

namespace fl::checkpoints::inline FL_ROLE {

inline constexpr std::size_t block_bytes = 64 * 1024;
inline constexpr std::uint64_t container_mark = 0x31544E43'504B4C46ull;  // of this version and byte order
using Sums = std::vector<std::uint64_t>;

inline std::size_t blocks_of(std::size_t bytes) { return (bytes + block_bytes - 1) / block_bytes; }

inline Sums sums_of(const unsigned char* data, std::size_t bytes) {
  Sums sums(blocks_of(bytes));
  for (std::size_t k = 0; k < sums.size(); ++k) sums[k] = sum_of(data + k * block_bytes, std::min(block_bytes, bytes - k * block_bytes));
  return sums;
}
inline std::uint64_t digest_of(const Sums& sums) { return sum_of(sums.data(), sums.size() * sizeof sums[0]); }

struct Head {
  std::uint64_t mark = container_mark, generation = 0, member = 0, bytes = 0, digest = 0, sum = 0;

  std::uint64_t expected_sum() const { return sum_of(this, sizeof *this - sizeof sum); }
};

inline std::size_t table_at() { return sizeof(Head); }
inline std::size_t data_at(std::size_t bytes) {  // on a page
  constexpr std::size_t page = 4096;
  return (table_at() + blocks_of(bytes) * sizeof(std::uint64_t) + page - 1) / page * page;
}

// Writes head and table; the blocks are written before.
inline void write_head(File& file, std::uint64_t generation, int member, std::size_t bytes, const Sums& sums, Journal& journal) {
  Head head{.generation = generation, .member = static_cast<std::uint64_t>(member), .bytes = bytes, .digest = digest_of(sums)};
  head.sum = head.expected_sum();
  file.write(&head, sizeof head, 0);
  file.write(sums.data(), sums.size() * sizeof sums[0], table_at());
  journal.bytes += static_cast<Index>(sizeof head + sums.size() * sizeof sums[0]);
}

// Writes a container under a temporary name and brings it to the disk; renamed() makes it one.
inline void write_container(const std::string& path, std::uint64_t generation, int member, const unsigned char* data, std::size_t bytes,
                            const Sums& sums, Journal& journal) {
  File file(path + unfinished, O_WRONLY | O_CREAT | O_TRUNC);
  journal.files += 1;
  file.write(data, bytes, data_at(bytes));
  journal.bytes += static_cast<Index>(bytes);
  write_head(file, generation, member, bytes, sums, journal);
  file.sync();
  journal.synced += 1;
  file.close();
}

struct Contents {
  Bytes data;
  Sums sums;
};

// Returns the head if it is that of this generation and member; throws Failure otherwise.
inline Head read_head(File& file, std::uint64_t generation, int member) {
  Head head;
  file.read(&head, sizeof head, 0);
  if (head.mark != container_mark) throw Failure(file.path() + " is not part of a checkpoint of this version and byte order");
  if (head.sum != head.expected_sum()) throw Failure(file.path() + " is damaged: the checksum of its header is wrong");
  if (head.generation != generation || head.member != static_cast<std::uint64_t>(member))
    throw Failure(file.path() + " contains member " + std::to_string(head.member) + " of generation " + std::to_string(head.generation) +
                  ", not member " + std::to_string(member) + " of generation " + std::to_string(generation));
  if (file.size() < data_at(head.bytes) + head.bytes) throw Failure(file.path() + " is truncated");
  return head;
}

// Returns the generation that a container is of; throws Failure if its head is damaged.
inline std::uint64_t generation_of(const std::string& path) {
  Head head;
  File(path, O_RDONLY).read(&head, sizeof head, 0);
  if (head.mark != container_mark || head.sum != head.expected_sum())
    throw Failure(path + " is damaged: the checksum of its header is wrong");
  return head.generation;
}

// Returns the table of sums; throws Failure if it is damaged.
inline Sums read_sums(File& file, const Head& head) {
  Sums sums(blocks_of(head.bytes));
  file.read(sums.data(), sums.size() * sizeof sums[0], table_at());
  if (digest_of(sums) != head.digest) throw Failure(file.path() + " is damaged: the digest of its checksums is wrong");
  return sums;
}

// Throws Failure if the bytes do not have these sums.
inline void verify(const std::string& path, const unsigned char* data, std::size_t bytes, const Sums& sums) {
  for (std::size_t k = 0; k < sums.size(); ++k)
    if (sum_of(data + k * block_bytes, std::min(block_bytes, bytes - k * block_bytes)) != sums[k])
      throw Failure(path + " is damaged: the checksum of block " + std::to_string(k) + " of " + std::to_string(sums.size()) + " is wrong");
}

// Returns what a container of this generation and member has; throws Failure if any of it is not what was written.
inline Contents read_container(const std::string& path, std::uint64_t generation, int member) {
  File file(path, O_RDONLY);
  const Head head = read_head(file, generation, member);
  Contents found{Bytes(head.bytes), read_sums(file, head)};
  file.read(found.data.data(), head.bytes, data_at(head.bytes));
  verify(path, found.data.data(), head.bytes, found.sums);
  return found;
}

}  // namespace fl::checkpoints::inline FL_ROLE
