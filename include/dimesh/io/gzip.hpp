// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do gzip'ed bytes stand for? Handed out front to back; members one after the other are one
// text. What is wrong with them is for the caller to say, who knows the file's name.
//
//   gzip_reader in(zipped);
//   while (in.read(piece, 4096) == 4096) ...      // fewer: in.end() says why
//
// Needs zlib (link with -lz).
#pragma once

#include <zlib.h>
#include <algorithm>
#include <string>
#include <string_view>

#include "dimesh/detail/config.hpp"

namespace dimesh::detail {

enum class gzip_end {
  none,      ///< there may be more
  sound,     ///< all is read, and its checksum is right
  cut,       ///< the bytes end before a member does
  corrupt,   ///< reason() says what zlib says
  trailing,  ///< after a member stands what is none
};

class gzip_reader {
 public:
  /// The bytes must outlive it.
  explicit gzip_reader(std::string_view zipped) : zipped_(zipped) {
    if (inflateInit2(&stream_, 16 + MAX_WBITS) != Z_OK) end_ = gzip_end::corrupt;  // says why not
  }
  gzip_reader(const gzip_reader&) = delete;
  gzip_reader& operator=(const gzip_reader&) = delete;
  ~gzip_reader() { inflateEnd(&stream_); }

  /// Reads up to n bytes; fewer only at the end, whatever it is.
  index_t read(void* to, index_t n) {
    constexpr index_t limit = 1 << 30;  // zlib counts in unsigned int
    index_t done = 0;
    while (done < n && end_ == gzip_end::none) {
      const auto room = static_cast<uInt>(std::min(n - done, limit));
      const auto left = static_cast<uInt>(std::min(rest(), limit));
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(zipped_.data() + at_));
      stream_.avail_in = left;
      stream_.next_out = static_cast<Bytef*>(to) + done;
      stream_.avail_out = room;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      at_ += left - stream_.avail_in;
      done += room - stream_.avail_out;
      if (status == Z_STREAM_END)
        end_member();
      else if (status != Z_OK)
        end_ = status == Z_BUF_ERROR ? gzip_end::cut : gzip_end::corrupt;
    }
    return done;
  }

  gzip_end end() const { return end_; }
  /// How many of the bytes are read, and how many are not.
  index_t at() const { return at_; }
  index_t rest() const { return static_cast<index_t>(zipped_.size()) - at_; }
  /// What is wrong with corrupt data.
  std::string reason() const {
    return std::string("zlib: ") + (stream_.msg != nullptr ? stream_.msg : "no detail");
  }

 private:
  void end_member() {
    if (rest() == 0)
      end_ = gzip_end::sound;
    else if (zipped_[static_cast<std::size_t>(at_)] != '\x1f')
      end_ = gzip_end::trailing;
    else
      inflateReset(&stream_);
  }

  std::string_view zipped_;
  z_stream stream_{};
  index_t at_ = 0;
  gzip_end end_ = gzip_end::none;
};

}  // namespace dimesh::detail
