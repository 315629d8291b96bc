// A JSON object written left to right; numbers that are not finite become null.
#pragma once

#include <string>
#include <string_view>

#include "firstlight/workload.hpp"

namespace fl {

// The fewest digits that stand for this very number.
std::string shortest(double number);

class Json {
 public:
  Json& open(char bracket);   // '{' or '['
  Json& close(char bracket);  // '}' or ']'
  Json& key(std::string_view name);
  Json& value(std::string_view text);
  Json& value(const char* text) { return value(std::string_view(text)); }
  Json& value(double number);
  Json& value(Index number);
  Json& value(int number) { return value(static_cast<Index>(number)); }
  Json& value(long number) { return value(static_cast<Index>(number)); }
  Json& value(bool truth);
  Json& raw(const std::string& json);  // a complete JSON text
  template <class T>
  Json& member(std::string_view name, const T& what) {
    return key(name).value(what);
  }
  const std::string& text() const { return text_; }

 private:
  void separate();
  void quote(std::string_view raw);
  std::string text_;
};

}  // namespace fl
