#include "engine/workers/row.hpp"

#include <algorithm>
#include <unordered_map>

namespace live::engine::workers {

namespace {

template <class Number>
double real_of(Number number) {
    return static_cast<double>(number);
}

// Values of different types stay as they are in the sum, but for whole and real numbers.
void add_value(Field::Value& sum, Field::Value more) {
    std::visit(
        [&](auto& to, auto& from) {
            using To = std::remove_reference_t<decltype(to)>;
            using From = std::remove_reference_t<decltype(from)>;
            constexpr bool are_numbers =
                std::is_arithmetic_v<To> && std::is_arithmetic_v<From> && !std::same_as<To, bool> && !std::same_as<From, bool>;
            if constexpr (are_numbers && (std::same_as<To, double> || std::same_as<From, double>))
                sum = real_of(to) + real_of(from);
            else if constexpr (are_numbers)  // a sum that is too large wraps around
                to = static_cast<To>(static_cast<std::uint64_t>(to) + static_cast<std::uint64_t>(from));
            else if constexpr (std::same_as<To, Rows> && std::same_as<From, Rows>)
                join(to, std::move(from));
            else if constexpr (std::same_as<To, Names> && std::same_as<From, Names>)
                to.merge(from);
            else if constexpr (std::same_as<To, Workers> && std::same_as<From, Workers>)
                to.numbers.insert(to.numbers.end(), from.numbers.begin(), from.numbers.end());
        },
        sum, more);
}

void combine(Row& sum, Row more) {
    if (more.rank > sum.rank)
        std::swap(sum, more);
    for (Field& field : sum.fields) {
        const auto other = std::ranges::find(more.fields, field.name, &Field::name);
        if (other == more.fields.end())
            continue;
        auto* inner = std::get_if<Row>(&field.value);
        auto* inner_of_other = std::get_if<Row>(&other->value);
        if (inner != nullptr && inner_of_other != nullptr)
            combine(*inner, std::move(*inner_of_other));
        else if (field.combine == Combine::add)
            add_value(field.value, std::move(other->value));
    }
}

void number(Row& row, std::size_t worker) {
    for (Field& field : row.fields) {
        if (auto* workers = std::get_if<Workers>(&field.value))
            workers->numbers = {worker};
        else if (auto* inner = std::get_if<Row>(&field.value))
            number(*inner, worker);
        else if (auto* list = std::get_if<Rows>(&field.value))
            for (Row& one : *list)
                number(one, worker);
    }
}

}  // namespace

Row::Row() = default;
Row::Row(std::initializer_list<Field> list) : fields(list) {}
Row::Row(const Row&) = default;
Row::Row(Row&&) noexcept = default;
Row& Row::operator=(const Row&) = default;
Row& Row::operator=(Row&&) noexcept = default;
Row::~Row() = default;

const Field* Row::find(std::string_view name) const {
    const auto found = std::ranges::find(fields, name, &Field::name);
    return found == fields.end() ? nullptr : &*found;
}

std::string_view Row::text(std::string_view name) const {
    const auto* value = find<std::string>(name);
    return value == nullptr ? std::string_view() : *value;
}

bool Row::operator==(const Row& other) const { return fields == other.fields && key == other.key && rank == other.rank; }

void join(Rows& sum, Rows more) {
    std::unordered_map<std::string, std::size_t> known;
    for (std::size_t i = 0; i < sum.size(); ++i)
        if (!sum[i].key.empty())
            known.emplace(sum[i].key, i);
    for (Row& row : more) {
        const auto at = known.find(row.key);
        if (at == known.end())
            sum.push_back(std::move(row));
        else
            combine(sum[at->second], std::move(row));
    }
}

void add_report(RowReport& sum, std::size_t worker, RowReport report) {
    number(report.head, worker);
    for (Row& row : report.rows)
        number(row, worker);
    if (sum == RowReport()) {
        sum = std::move(report);
        return;
    }
    combine(sum.head, std::move(report.head));
    join(sum.rows, std::move(report.rows));
}

}  // namespace live::engine::workers
