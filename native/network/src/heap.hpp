// A binary heap of events in the order of time, those of one time in the order in which they were made.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace fl::network {

template <class Event>  // with a member `before(other)`
class Heap {
 public:
  bool empty() const { return events_.empty(); }
  const Event& top() const { return events_.front(); }
  void push(const Event& event) {
    std::size_t hole = events_.size();
    events_.push_back(event);
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / 2;
      if (!event.before(events_[parent])) break;
      events_[hole] = events_[parent];
      hole = parent;
    }
    events_[hole] = event;
  }
  // The first event is later than it was.
  void sink(const Event& event) {
    const std::size_t size = events_.size();
    std::size_t hole = 0;
    for (std::size_t child = 1; child < size; child = 2 * hole + 1) {
      child += child + 1 < size && events_[child + 1].before(events_[child]) ? 1 : 0;
      if (!events_[child].before(event)) break;
      events_[hole] = events_[child];
      hole = child;
    }
    events_[hole] = event;
  }
  // The hole at the top sinks to the bottom along the earlier children, and the last event rises from there: it mostly belongs there.
  Event pop() {
    const Event first = events_.front(), last = events_.back();
    events_.pop_back();
    const std::size_t size = events_.size();
    if (size == 0) return first;
    std::size_t hole = 0, child = 1;
    for (; child + 1 < size; child = 2 * hole + 1) {
      child += events_[child + 1].before(events_[child]) ? 1 : 0;
      events_[hole] = events_[child];
      hole = child;
    }
    if (child < size) {
      events_[hole] = events_[child];
      hole = child;
    }
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / 2;
      if (!last.before(events_[parent])) break;
      events_[hole] = events_[parent];
      hole = parent;
    }
    events_[hole] = last;
    return first;
  }

 private:
  std::vector<Event> events_;
};

}  // namespace fl::network
