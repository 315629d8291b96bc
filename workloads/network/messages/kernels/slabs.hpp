// Blocks of one size, cut from slabs of memory that are attached as a whole.
#pragma once

#include <algorithm>
#include <vector>

#include "rules.hpp"

namespace messages {

template <class Transport>
class Slabs {
 public:
  Slabs(Transport& transport, fl::Index bytes, Growth growth, fl::Index most)
      : transport_(transport), bytes_(bytes), growth_(growth), most_(most) {}

  // Returns a block of zeros that was never touched, or one that was given back with its contents.
  unsigned char* take() {
    if (!free_.empty()) {
      unsigned char* block = free_.back();
      free_.pop_back();
      return block;
    }
    if (used_ == reserved_) add(std::min(most_ - reserved_, growth_.next(reserved_)));
    ++used_;
    return next_ += bytes_, next_ - bytes_;
  }
  void give_back(unsigned char* block) { free_.push_back(block); }
  void add(fl::Index blocks) {
    next_ = transport_.attach(blocks * bytes_);
    reserved_ += blocks;
  }
  fl::Index used() const { return (used_ - static_cast<fl::Index>(free_.size())) * bytes_; }
  fl::Index reserved() const { return reserved_ * bytes_; }

 private:
  Transport& transport_;
  fl::Index bytes_;
  Growth growth_;
  fl::Index most_, reserved_ = 0, used_ = 0;
  unsigned char* next_ = nullptr;
  std::vector<unsigned char*> free_;
};

}  // namespace messages
