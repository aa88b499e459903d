// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is a checkpoint written while training goes on? Threads bring copies of the elements to the
// disk; the ranks agree, between steps, on how far they are. No types of tensors are here.
//
//   const auto saving = begin_save("run", {.step = 7}, {}, note_parts_of(...));
//   ...steps...
//   if (advance(*saving, false)) ...          // the checkpoint is there
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <system_error>
#include <utility>

#include "dimesh/io/checkpoint/copied.hpp"
#include "dimesh/io/checkpoint/write.hpp"

namespace dimesh::detail::checkpoint {

/// A file, and what this rank has to write of it.
struct copied_file {
  std::string name, head;
  std::vector<copied_block> blocks;
  index_t bytes = 0;
};

/// What one rank's thread found in a stage.
struct stage_end {
  std::string fault;
  std::vector<std::uint64_t> said;  ///< of each file: bytes read, their checksum
};

/// A save on its way: writing, then reading back for checksums, then committing. In between, the
/// ranks tell each other whether all have got so far. Threads do not call MPI.
class background_save {
 public:
  background_save(const std::string& folder, checkpoint_record record, save_options options,
                  const std::vector<named_core>& all)
      : c_(all[0].core->grid->everyone().handle()),
        record_(with_first_files(c_.comm, std::move(record))),
        options_(std::move(options)) {
    const auto plan = plan_files(all, record_, options_.largest_file);
    index_ = plan.size() > 1 ? index_text(plan) : std::string();
    std::string place;
    together(c_.comm, [&] {
      if (c_.rank == 0) {
        root_ = fs::absolute(folder);  // wherever the program goes meanwhile
        commit_ = std::make_unique<commit>(root_.string(), record_.step);
        commit_->make_folder();
        place = commit_->unfinished().string();
      }
      for (const planned_file& f : plan) files_.push_back(copied(f));
    });
    place_ = text_from(c_.comm, 0, place);
    if (!index_.empty()) files_.push_back({index_name, index_, {}, length(index_)});
    for (const auto& [name, bytes] : record_.files)
      files_.push_back({name, bytes, {}, length(bytes)});
    begin([this] { return write(); });
  }
  background_save(const background_save&) = delete;
  background_save& operator=(const background_save&) = delete;
  /// A save that is dropped before it is done leaves no checkpoint.
  ~background_save() {
    if (work_.valid()) work_.wait();
  }

  /// Goes as far as all ranks have got, and waits for disks only if it is told to. True: the
  /// checkpoint is there. Collective, and the same on all ranks: what programs make of the answer,
  /// the next save say, is collective, too.
  bool advance(bool waits) {
    while (stage_ != stage::complete) {
      if (stage_ == stage::failed) throw error(fault_);
      if (!waits && !all_have_got_here()) return false;
      share(work_.get());
      if (stage_ == stage::writing) begin([this] { return read(); });
      if (stage_ == stage::reading) begin([this] { return publish(); });
      stage_ = static_cast<stage>(static_cast<int>(stage_) + 1);
    }
    return true;
  }

 private:
  enum class stage { writing, reading, committing, complete, failed };

  static index_t length(const std::string& s) { return static_cast<index_t>(s.size()); }
  static copied_file copied(const planned_file& f) {
    copied_file to{f.name, f.head, {}, length(f.head) + f.entries.back().end};
    for (std::size_t i = 0; i < f.tensors.size(); ++i)
      if (copied_block b = copy_of(*f.tensors[i]->core, length(f.head) + f.entries[i].begin);
          !b.bytes.empty())
        to.blocks.push_back(std::move(b));
    return to;
  }
  template <class F> void begin(F f) {
    const auto run = [f] {
      try {
        return f();
      } catch (const std::exception& e) {
        return stage_end{e.what(), {}};
      }
    };
    try {
      work_ = std::async(std::launch::async, run);
    } catch (const std::system_error&) {  // no thread is left on this rank: the others go on
      std::promise<stage_end> here;
      work_ = here.get_future();
      here.set_value(run());
    }
  }
  stage_end write() {
    for (copied_file& f : files_) {
      if (c_.rank == 0 || !f.blocks.empty()) {
        descriptor to(place_ / f.name, O_WRONLY | O_CREAT);
        if (c_.rank == 0) to.reserve(f.bytes);
        if (c_.rank == 0) to.write(f.head.data(), f.head.size(), 0);
        for (const copied_block& b : f.blocks) b.write(to);
        to.sync();
      }
      f.blocks.clear();
    }
    return {};
  }
  stage_end read() const {
    stage_end end;
    for (const copied_file& f : files_) {
      const part_mark mine = mark_of_part(place_ / f.name, c_.ranks, c_.rank);
      require_written(place_ / f.name, mine.total, f.bytes);
      end.said.insert(end.said.end(), {static_cast<std::uint64_t>(mine.bytes), mine.crc});
    }
    return end;
  }
  stage_end publish() {
    if (c_.rank != 0) return {};
    manifest m{record_, {}};
    for (std::size_t i = 0; i < files_.size(); ++i) {
      std::uint32_t crc = 0;
      for (std::size_t r = 0; r < static_cast<std::size_t>(c_.ranks); ++r) {
        const std::uint64_t* const of = &all_[r * per_rank() + 2 * i];
        crc = joined_crc(crc, {files_[i].bytes, static_cast<index_t>(of[0]), of[1]});
      }
      m.files[files_[i].name] = {files_[i].bytes, crc};
    }
    commit_->write_manifest(manifest_text(m));
    commit_->publish();
    commit_->move_latest();
    if (options_.keep_last > 0) {
      remove_old(root_, options_.keep_last, options_.keep_steps);
      commit_->mend_latest();
    }
    return {};
  }

  bool all_have_got_here() const {
    const waiting here("checkpoint");
    int ready = work_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    check(MPI_Allreduce(MPI_IN_PLACE, &ready, 1, MPI_INT, MPI_MIN, c_.comm), "checkpoint");
    return ready != 0;
  }
  std::size_t per_rank() const { return 2 * files_.size(); }
  /// With all ranks: what this one has read. Throws on all of them where one has failed.
  void share(stage_end end) {
    try {
      agree_on_fault(c_.comm, std::move(end.fault));
    } catch (const error& e) {
      fault_ = e.what();
      stage_ = stage::failed;
      commit_.reset();
      throw;
    }
    if (stage_ != stage::reading) return;
    all_.resize(per_rank() * static_cast<std::size_t>(c_.ranks));
    const int n = static_cast<int>(per_rank());
    const waiting here("checkpoint");
    check(MPI_Allgather(end.said.data(), n, MPI_UINT64_T, all_.data(), n, MPI_UINT64_T, c_.comm),
          "checkpoint");
  }

  own_comm c_;
  checkpoint_record record_;
  save_options options_;
  fs::path root_, place_;
  std::string index_, fault_;
  std::vector<copied_file> files_;
  std::unique_ptr<commit> commit_;  // of rank 0
  stage stage_ = stage::writing;
  std::vector<std::uint64_t> all_;  // of each rank and file: bytes read, their checksum
  std::future<stage_end> work_;  // the last: it ends before what it uses
};

inline save_handle begin_save(const std::string& folder, const checkpoint_record& record,
                              const save_options& options, const std::vector<named_core>& all) {
  return {new background_save(folder, record, options, all),
          [](background_save* save) { delete save; }};
}
inline bool advance(background_save& save, bool waits) { return save.advance(waits); }

}  // namespace dimesh::detail::checkpoint
