// How large the pages of this system are: 4, 16 or 64 KiB, huge ones 2, 32 or 512 MiB.
#pragma once

#include <cstddef>

namespace fl {

struct Pages {
  std::size_t page;
  std::size_t huge;  // 0: there are none

  // What an array of so many bytes is aligned to, and what its mapping is a multiple of. Arrays that fit a few pages are on pages.
  // Larger ones, scattered over small pages, meet in the same sets of a physically indexed cache by luck, and a figure near the size of
  // L2 would change from launch to launch: they are on huge pages from 256 KiB on, where a huge page is not so large that memory would be
  // wasted by the hundred MiB.
  std::size_t grain_of(std::size_t bytes) const {
    constexpr std::size_t from = std::size_t{256} << 10, small_enough = std::size_t{2} << 20;
    const bool many = huge != 0 && bytes >= (huge <= small_enough ? from : huge);
    return many ? huge : page;
  }
};

const Pages& pages();  // as the system reports them, read once

}  // namespace fl
