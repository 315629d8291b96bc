#include "requests.hpp"

#include <pthread.h>

#include <cstdlib>
#include <new>

namespace fl {
namespace {

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
Planned* planned[4096] = {};

Planned*& bucket(std::uint64_t request) { return planned[(request * 0x9E3779B97F4A7C15u) >> 52]; }

void take_out(std::uint64_t request) {
  for (Planned** at = &bucket(request); *at != nullptr; at = &(*at)->next) {
    if ((*at)->request != request) continue;
    Planned* gone = *at;
    *at = gone->next;
    std::free(gone->edges);
    std::free(gone);
    return;
  }
}

}  // namespace

Planned* plan(MPI_Request request, Kind kind, int edges) {
  Planned* fresh = new (make(sizeof(Planned))) Planned;
  fresh->request = number(request);
  fresh->kind = kind;
  fresh->count = edges;
  fresh->edges = static_cast<Edge*>(make(sizeof(Edge) * static_cast<std::size_t>(edges + 1)));
  pthread_mutex_lock(&lock);
  take_out(fresh->request);
  fresh->next = bucket(fresh->request);
  bucket(fresh->request) = fresh;
  pthread_mutex_unlock(&lock);
  return fresh;
}

void started(Table& table, MPI_Request request) {
  pthread_mutex_lock(&lock);
  const Planned* p = bucket(number(request));
  while (p != nullptr && p->request != number(request)) p = p->next;
  if (p != nullptr) {  // persistent receives are not planned: they send nothing
    Row& row = table.rows[static_cast<int>(p->kind)];
    add(row.calls, 1);
    add(row.bytes, p->bytes);
    for (int i = 0; i < p->count; ++i) {
      table.pair(p->edges[i].peer, Way::out).count(p->edges[i].bytes);
      table.sizes.count(p->edges[i].bytes);
      add(row.bytes, p->edges[i].bytes);
    }
  }
  pthread_mutex_unlock(&lock);
}

void forget_request(MPI_Request request) {
  pthread_mutex_lock(&lock);
  take_out(number(request));
  pthread_mutex_unlock(&lock);
}

}  // namespace fl
