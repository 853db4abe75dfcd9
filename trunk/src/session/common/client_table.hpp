// ClientTable: who is connected, for whoever operates the server: to list them, and to send one away.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "session/common/admission.hpp"

namespace live::session {

// One connected client. Lives in its session's fiber.
class Client {
public:
    virtual const ClientRequest& request() const = 0;
    // Ends the connection; the session's fiber cleans up when it runs next. `reason` is for the log.
    virtual void kick(std::string reason) = 0;

protected:
    ~Client() = default;
};

class ClientTable {
public:
    // Keeps a client in the table while it lives.
    class Entry {
    public:
        Entry(ClientTable& table, Client& client) : table_(table), client_(client), index_(table.entries_.size()) {
            table_.entries_.push_back(this);
        }
        ~Entry() {
            table_.entries_[index_] = table_.entries_.back();
            table_.entries_[index_]->index_ = index_;
            table_.entries_.pop_back();
        }
        Entry(const Entry&) = delete;
        Entry& operator=(const Entry&) = delete;

    private:
        friend class ClientTable;
        ClientTable& table_;
        Client& client_;
        std::size_t index_;
    };

    std::size_t size() const { return entries_.size(); }
    template <class Visitor>
    void for_each(Visitor&& visit) const {
        for (const Entry* entry : entries_)
            visit(entry->client_);
    }

private:
    std::vector<Entry*> entries_;
};

}  // namespace live::session
