#include "worker_sdk/src/spawn_order.h"

#include <charconv>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace ddp::detail {
namespace {

template <class T>
void put(std::string& bytes, const T& number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void put(std::string& bytes, const std::string& text) {
  put(bytes, text.size());
  bytes += text;
}

class Reader {
 public:
  explicit Reader(const std::string& bytes) : rest_(bytes) {}

  std::string_view take(std::size_t size) {
    if (size > rest_.size()) throw std::runtime_error("the order of a spawned process is cut off");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  template <class T>
  T get() {
    if constexpr (std::same_as<T, std::string>) {
      return std::string(take(get<std::size_t>()));
    } else if constexpr (std::same_as<T, bool>) {
      return take(1).front() != 0;  // a bool with any other bytes in it must not come to be
    } else {
      T number;
      std::memcpy(&number, take(sizeof number).data(), sizeof number);
      return number;
    }
  }

  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

template <std::size_t I = 0>
SpawnValue get_alternative(Reader& reader, std::size_t index) {
  if constexpr (I < std::variant_size_v<SpawnValue>) {
    if (index == I) return reader.get<std::variant_alternative_t<I, SpawnValue>>();
    return get_alternative<I + 1>(reader, index);
  } else {
    throw std::runtime_error("the order of a spawned process has a value of an unknown type");
  }
}

std::string shown(const SpawnValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return "the text '" + *text + "'";
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  char number[64];
  std::visit(
      [&](const auto& held) {
        using Held = std::remove_cvref_t<decltype(held)>;
        if constexpr (std::is_floating_point_v<Held>) {
          std::snprintf(number, sizeof number, "%.17Lg", static_cast<long double>(held));
        } else if constexpr (std::is_integral_v<Held>) {
          std::snprintf(number, sizeof number, "%s", std::to_string(held).c_str());
        }
      },
      value);
  return number;
}

std::string arguments(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " argument" : " arguments");
}

}  // namespace

std::string wrong_argument(std::size_t index, const std::string& expected,
                           const SpawnValue& found) {
  return "argument " + std::to_string(index + 1) + ": expected " + expected + ", found " +
         shown(found);
}

std::string wrong_count(std::size_t expected, std::size_t found) {
  return "expected " + arguments(expected) + " behind the rank, found " + std::to_string(found);
}

std::string encode(const SpawnOrder& order) {
  std::string bytes;
  put(bytes, order.worker);
  for (const SpawnValue& value : order.arguments) {
    put(bytes, value.index());
    std::visit([&](const auto& held) { put(bytes, held); }, value);
  }
  return bytes;
}

SpawnOrder decode(const std::string& bytes) {
  Reader reader(bytes);
  SpawnOrder order{reader.get<std::string>(), {}};
  while (!reader.at_end()) {
    order.arguments.push_back(get_alternative(reader, reader.get<std::size_t>()));
  }
  return order;
}

std::string to_text(const SpawnTicket& ticket) {
  return std::to_string(ticket.parent) + " " + std::to_string(ticket.rank) + " " +
         std::to_string(ticket.order_fd) + " " + std::to_string(ticket.answer_fd);
}

std::string to_text(const SpawnReason& reason) {
  return kFailed + std::to_string(reason.at) + " " + reason.text;
}

std::optional<SpawnReason> read_reason(const std::string& bytes) {
  if (!bytes.starts_with(kFailed)) return std::nullopt;
  SpawnReason reason;
  const char* end = bytes.data() + bytes.size();
  const auto number = std::from_chars(bytes.data() + 1, end, reason.at);
  if (number.ec != std::errc() || number.ptr == end) return std::nullopt;
  reason.text.assign(number.ptr + 1, end);
  return reason;
}

std::optional<SpawnTicket> read_ticket(const Lookup& lookup, pid_t parent) {
  const std::string text = lookup(kSpawnVariable).value_or("");
  SpawnTicket ticket;
  int end = 0;
  const int fields = std::sscanf(text.c_str(), "%d %d %d %d%n", &ticket.parent, &ticket.rank,
                                 &ticket.order_fd, &ticket.answer_fd, &end);
  if (fields != 4 || static_cast<std::size_t>(end) != text.size()) return std::nullopt;
  if (ticket.rank < 0 || ticket.order_fd < 0 || ticket.answer_fd < 0) return std::nullopt;
  return ticket.parent == parent ? std::optional(ticket) : std::nullopt;
}

}  // namespace ddp::detail
