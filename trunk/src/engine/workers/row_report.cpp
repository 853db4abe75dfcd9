#include "engine/workers/row_report.hpp"

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/byte_writer.hpp"

namespace live::engine::workers {

namespace {

constexpr std::uint8_t kRowVersion = 1;

// The type of a value is its index in the variant.
using Value = Field::Value;

void write_row(ByteWriter& out, const Row& row);

struct ValueWriter {
    void operator()(std::monostate) const {}
    void operator()(bool value) const { out.u8(value ? 1 : 0); }
    void operator()(std::int64_t value) const { out.u64be(static_cast<std::uint64_t>(value)); }
    void operator()(std::uint64_t value) const { out.u64be(value); }
    void operator()(double value) const { out.f64be(value); }
    void operator()(const std::string& value) const { size(value).text(value); }
    void operator()(const Row& value) const { write_row(out, value); }
    void operator()(const Rows& value) const { many(value); }
    void operator()(const Texts& value) const { many(value); }
    void operator()(const Names& value) const { many(value); }
    void operator()(const Workers& value) const { out.u8(value.is_list ? 1 : 0); }

    template <class Many>
    void many(const Many& values) const {
        size(values);
        for (const auto& value : values)
            (*this)(value);
    }
    template <class Many>
    ByteWriter& size(const Many& value) const {
        return out.u32be(static_cast<std::uint32_t>(value.size()));
    }

    ByteWriter& out;
};

void write_row(ByteWriter& out, const Row& row) {
    const ValueWriter write{out};
    write(row.key);
    out.u8(row.rank);
    write.size(row.fields);
    for (const Field& field : row.fields) {
        write(field.name);
        out.u8(static_cast<std::uint8_t>(field.combine)).u8(static_cast<std::uint8_t>(field.value.index()));
        std::visit(write, field.value);
    }
}

class RowReader {
public:
    explicit RowReader(Bytes report) : in_(report) {}

    Result<RowReport> report() {
        if (TRY(in_.u8()) != kRowVersion)
            return Error(Errc::unsupported, "a report of another version");
        RowReport report;
        report.head = TRY(row(0));
        while (!in_.at_end())
            report.rows.push_back(TRY(row(0)));
        return report;
    }

private:
    // A count of values that are as many bytes or more.
    Result<std::size_t> count() {
        const std::size_t count = TRY(in_.u32be());
        if (count > values_left_)
            return Error(Errc::limit, "too many values in a report");
        values_left_ -= count;
        return count;
    }
    Result<bool> flag() {
        const auto value = TRY(in_.u8());
        if (value > 1)
            return Error(Errc::malformed, "a flag of a report is 0 or 1");
        return value == 1;
    }
    Result<std::string> text() { return std::string(as_text(TRY(in_.take(TRY(in_.u32be()))))); }

    Result<Row> row(std::size_t depth) {
        if (depth > kReportedDepthMax || values_left_ == 0)
            return Error(Errc::limit, "too many rows in a report");
        --values_left_;
        Row row;
        row.key = TRY(text());
        row.rank = TRY(in_.u8());
        const std::size_t fields = TRY(count());
        for (std::size_t i = 0; i < fields; ++i) {
            const auto name = TRY(text());
            const bool is_added = TRY(flag());
            row.add(name, TRY(value(depth)), is_added ? Combine::add : Combine::first);
        }
        return row;
    }

    Result<Value> value(std::size_t depth) {
        switch (TRY(in_.u8())) {
            case 0: return Value();
            case 1: return Value(TRY(flag()));
            case 2: return Value(static_cast<std::int64_t>(TRY(in_.u64be())));
            case 3: return Value(TRY(in_.u64be()));
            case 4: return Value(TRY(in_.f64be()));
            case 5: return Value(TRY(text()));
            case 6: return Value(TRY(row(depth + 1)));
            case 7: return many<Rows>([this, depth] { return row(depth + 1); });
            case 8: return many<Texts>([this] { return text(); });
            case 9: return many<Names>([this] { return text(); });
            case 10: return Value(Workers{TRY(flag())});
            default: return Error(Errc::malformed, "unknown type of a value in a report");
        }
    }

    template <class Many, class Read>
    Result<Value> many(Read&& read) {
        Many values;
        for (std::size_t left = TRY(count()); left > 0; --left)
            values.insert(values.end(), TRY(read()));
        return Value(std::move(values));
    }

    ByteReader in_;
    std::size_t values_left_ = kReportedValuesMax;
};

}  // namespace

std::string write_row_report(const Row& head) {
    ByteWriter out;
    out.u8(kRowVersion);
    write_row(out, head);
    return std::string(as_text(out.written()));
}

void append_row(std::string& report, const Row& row) {
    ByteWriter out;
    write_row(out, row);
    report += as_text(out.written());
}

// The report is whole: what is missing at its end is malformed.
Result<RowReport> parse_row_report(Bytes report) {
    auto rows = RowReader(report).report();
    if (!rows.ok() && rows.code() == Errc::need_more)
        return Error(Errc::malformed, "a report ends early");
    return rows;
}

}  // namespace live::engine::workers
