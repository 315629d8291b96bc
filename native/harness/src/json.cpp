#include "json.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>

namespace fl {

std::string shortest(double number) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, number).ptr};
}

void Json::separate() {
  if (text_.empty()) return;
  const char last = text_.back();
  if (last != '{' && last != '[' && last != ':') text_ += ',';
}

void Json::quote(std::string_view raw) {
  text_ += '"';
  for (const char c : raw) {
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7E) {
      // Library version strings may hold any byte; the record stays plain ASCII.
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      text_ += escaped;
    } else {
      text_ += c;
    }
  }
  text_ += '"';
}

Json& Json::open(char bracket) {
  separate();
  text_ += bracket;
  return *this;
}

Json& Json::close(char bracket) {
  text_ += bracket;
  return *this;
}

Json& Json::key(std::string_view name) {
  separate();
  quote(name);
  text_ += ':';
  return *this;
}

Json& Json::value(std::string_view raw) {
  separate();
  quote(raw);
  return *this;
}

Json& Json::value(double number) {
  separate();
  text_ += std::isfinite(number) ? shortest(number) : "null";
  return *this;
}

Json& Json::value(Index number) {
  separate();
  text_ += std::to_string(number);
  return *this;
}

Json& Json::raw(const std::string& json) {
  separate();
  text_ += json;
  return *this;
}

Json& Json::value(bool truth) {
  separate();
  text_ += truth ? "true" : "false";
  return *this;
}

}  // namespace fl
