// A binary heap of events in the order of time, those of one time in the order in which they were made.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
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

// The same order of events, for events that are pushed in the order in which they were made. Ranks that do alike do it at one time: such
// events form one line, and the heap contains lines. A time whose line was forgotten gets another one, which is later by its first event.
template <class Event>
class Queue {
 public:
  bool empty() const { return heap_.empty(); }
  const Event& top() const { return places_[lines_[heap_.top().line].first].event; }
  // The event after the top if it has the same time, else nothing.
  const Event* second() const {
    const std::uint32_t next = places_[lines_[heap_.top().line].first].next;
    return next == none ? nullptr : &places_[next].event;
  }
  void push(const Event& event) {
    const std::uint32_t place = stored(event);
    std::uint32_t& recent = recent_[std::bit_cast<std::uint64_t>(event.time + 0.0) * 0x9e3779b97f4a7c15U >> (64 - recent_bits)];
    if (recent < lines_.size() && lines_[recent].time == event.time) {
      places_[lines_[recent].last].next = place;
      lines_[recent].last = place;
      return;
    }
    recent = opened({event.time, place, place});
    heap_.push({event.time, event.order, recent});
  }
  Event pop() {
    const std::uint32_t index = heap_.top().line;
    Line& line = lines_[index];
    const std::uint32_t place = line.first;
    line.first = places_[place].next;
    if (line.first == none) {
      line.time = std::numeric_limits<double>::quiet_NaN();  // no event joins this line
      spare_lines_.push_back(index);
      heap_.pop();
    } else {
      __builtin_prefetch(&places_[line.first]);
    }
    spare_places_.push_back(place);
    return places_[place].event;
  }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  static constexpr int recent_bits = 10;
  struct Place {
    Event event;
    std::uint32_t next = none;
  };
  struct Line {
    double time;
    std::uint32_t first, last;
  };
  struct First {
    double time;
    decltype(Event::order) order;
    std::uint32_t line;
    bool before(const First& f) const { return time < f.time || (time == f.time && order < f.order); }
  };

  std::uint32_t stored(const Event& event) {
    if (spare_places_.empty()) {
      places_.push_back({event});
      return static_cast<std::uint32_t>(places_.size() - 1);
    }
    const std::uint32_t place = spare_places_.back();
    spare_places_.pop_back();
    places_[place] = {event};
    return place;
  }
  std::uint32_t opened(const Line& line) {
    if (spare_lines_.empty()) {
      lines_.push_back(line);
      return static_cast<std::uint32_t>(lines_.size() - 1);
    }
    const std::uint32_t index = spare_lines_.back();
    spare_lines_.pop_back();
    lines_[index] = line;
    return index;
  }

  Heap<First> heap_;
  std::vector<Place> places_;
  std::vector<Line> lines_;
  std::vector<std::uint32_t> spare_places_, spare_lines_;
  std::array<std::uint32_t, 1 << recent_bits> recent_{};  // lines by a hash of their times
};

}  // namespace fl::network
