#include "search/beam.hpp"

#include <limits>

#include "base/parallel.hpp"
#include "base/random.hpp"
#include "search/count.hpp"
#include "search/few.hpp"
#include "search/refine.hpp"
#include "search/scores/registry.hpp"

namespace rulewright {
namespace {

// A conjunction of the beam with the rows that it covers.
struct Member {
    GrownRule rule;
    Opening opening;
    Cover cover;
    Histogram histogram;
};

template <class Code>
class BeamSearch {
  public:
    BeamSearch(const Columns<Code>& columns, const Stat* stats, const Lanes& lanes,
               const ScoreChoice& choice, const Limits& limits, const Beam& beam, int n_threads)
        : columns_(columns),
          stats_(stats),
          lanes_(lanes),
          choice_(choice),
          limits_(limits),
          beam_(beam),
          n_threads_(n_threads) {}

    GrownRule run(std::span<const Row> rows, const Stat* totals) {
        if (rows.empty()) return {};
        start(rows, totals);
        GrownRule answer;
        const auto most = static_cast<std::size_t>(limits_.max_conditions);
        for (std::size_t length = 0; length < most && !members_.empty(); ++length) {
            best_.sums.clear();
            std::vector<Specialisation> few = specialise();
            if (!best_.sums.empty()) answer = extended(members_[best_.parent].rule, best_);
            for (const Specialisation& found : few) seen_.push_back(found.sums);
            std::erase_if(few, [&](const Specialisation& found) { return !promises(found); });
            descend(few, length + 1 < most);
        }
        return answer;
    }

  private:
    void start(std::span<const Row> rows, const Stat* totals) {
        Member whole{{}, Opening(limits_, choice_.directions), {}, {}};
        whole.cover.assign(rows);
        gather_marked(whole.cover);
        all_.assign(lanes_.used() + 1, 0);
        lanes_.pick(totals, all_.data());
        std::vector<Stat> covered(all_.size());
        for (std::size_t i = 0; i < whole.cover.gathered().size(); ++i) {
            covered[i % covered.size()] += whole.cover.stats[i];
        }
        best_.verdict.value =
            with_score<double>(choice_, [&](const auto& s) { return s.empty(all_.data()); }) -
            limits_.tolerance;
        best_.weight = std::numeric_limits<Stat>::max();  // to be beaten, not to be equalled
        seen_.push_back(std::move(covered));
        members_.push_back(std::move(whole));
    }

    // The marks tell covers apart; 31 bits of up to 2^32 rows have room in a sum.
    void gather_marked(Cover& cover) const {
        const std::size_t used = lanes_.used() + 1;
        cover.reserve(cover.n, used);
        for (std::size_t i = 0; i < cover.n; ++i) {
            Stat* target = cover.stats.data() + i * used;
            lanes_.pick(stats_ + cover.rows[i] * lanes_.stride, target);
            target[used - 1] = static_cast<Stat>(random_bits(0, cover.rows[i]) >> 33);
        }
    }

    static GrownRule extended(const GrownRule& rule, const Specialisation& found) {
        GrownRule longer{rule.conditions, found.verdict.vote};
        longer.conditions.push_back(found.condition);
        return longer;
    }

    // Counts and scans, part by part, all members; returns the best few of all and keeps the
    // best.
    std::vector<Specialisation> specialise() {
        struct Found {
            Few few;
            Specialisation best;
        };
        const std::size_t n_parts = columns_.parts.size();
        std::vector<Found> parts(members_.size() * n_parts, Found{Few(beam_.width), best_});
        std::size_t work = 0;
        for (Member& member : members_) {
            member.histogram.reshape(columns_, member.cover.lanes);
            work += member.cover.n + member.histogram.size();
        }
        parallel_for(parts.size(), work > kBlock ? n_threads_ : 1, [&](std::size_t i) {
            const std::size_t parent = i / n_parts;
            const Part& part = columns_.parts[i % n_parts];
            Member& member = members_[parent];
            count_part(columns_, part, member.cover, member.histogram);
            const FewScan scan{columns_, member.histogram,   member.opening, limits_.min_weight,
                               all_,     beam_.significance, seen_,          parent};
            scan_few(choice_, scan, part.first_column(), part.last_column(columns_), parts[i].few,
                     parts[i].best);
        });
        Few few(beam_.width);
        for (Found& part : parts) {
            for (Specialisation& found : part.few.list()) {
                if (few.takes(found)) few.add(std::move(found));
            }
            if (!part.best.sums.empty() && part.best.before(best_)) best_ = std::move(part.best);
        }
        return std::move(few.list());
    }

    bool promises(const Specialisation& found) const {
        const Specialisation part = best_part(choice_, found, all_);
        return part.better_than(best_) && part.verdict.value < found.verdict.value;
    }

    // The next beam; the covers of the last level are not needed.
    void descend(const std::vector<Specialisation>& few, bool further) {
        std::vector<Member> next;
        for (const Specialisation& found : further ? few : std::vector<Specialisation>{}) {
            const Member& parent = members_[found.parent];
            next.push_back({extended(parent.rule, found), parent.opening, {}, {}});
            next.back().opening.narrow(found.condition);
            next.back().cover.assign(parent.cover.covered());
            refine(columns_, found.condition, next.back().cover, dropped_, n_threads_);
            gather_marked(next.back().cover);
        }
        members_ = std::move(next);
    }

    const Columns<Code>& columns_;
    const Stat* stats_;
    const Lanes lanes_;
    const ScoreChoice& choice_;
    const Limits& limits_;
    const Beam& beam_;
    int n_threads_;
    std::vector<Member> members_;
    Cover dropped_;
    std::vector<Stat> all_;                // sums over the rows that rules are compared with
    std::vector<std::vector<Stat>> seen_;  // covers of all members so far
    Specialisation best_;
};

}  // namespace

template <class Code>
GrownRule grow_beam(const Columns<Code>& columns, std::span<const Row> rows, const Stat* stats,
                    const Lanes& lanes, const Stat* totals, const ScoreChoice& choice,
                    const Limits& limits, const Beam& beam, int n_threads) {
    return BeamSearch(columns, stats, lanes, choice, limits, beam, n_threads).run(rows, totals);
}

template GrownRule grow_beam(const Columns<std::uint8_t>&, std::span<const Row>, const Stat*,
                             const Lanes&, const Stat*, const ScoreChoice&, const Limits&,
                             const Beam&, int);
template GrownRule grow_beam(const Columns<std::uint16_t>&, std::span<const Row>, const Stat*,
                             const Lanes&, const Stat*, const ScoreChoice&, const Limits&,
                             const Beam&, int);

}  // namespace rulewright
