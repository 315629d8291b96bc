// The content of files in this chapter: each word of 8 bytes is a hash of file, offset and generation. It is incompressible and never 0.
#pragma once

#include <cstdint>
#include <cstring>

#include "firstlight/workload.hpp"

namespace storage {

using Word = std::uint64_t;

// One generation of one file. Files of another launch have other words, too.
class Content {
 public:
  Content(fl::Index file, fl::Index generation)
      : key_(fl::hash(fl::hash(fl::seed() ^ fl::hash(static_cast<Word>(file))) ^ static_cast<Word>(generation))) {}
  Word word(fl::Index offset) const {
    const Word w = fl::hash(key_ + static_cast<Word>(offset) / sizeof(Word));
    return w == 0 ? 1 : w;
  }
  // `bytes` from this offset on, both whole words.
  void fill(char* to, fl::Index bytes, fl::Index offset) const {
    for (fl::Index i = 0; i < bytes; i += 8) {
      const Word w = word(offset + i);
      std::memcpy(to + i, &w, sizeof w);
    }
  }
  // Returns the first byte of a wrong word, counted from `from`; -1 if there is none.
  fl::Index wrong(const char* from, fl::Index bytes, fl::Index offset) const {
    for (fl::Index i = 0; i < bytes; i += 8) {
      Word w = 0;
      std::memcpy(&w, from + i, sizeof w);
      if (w != word(offset + i)) return i;
    }
    return -1;
  }

 private:
  Word key_;
};

}  // namespace storage
