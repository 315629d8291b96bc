// Included first: a thread that leaves a lock sleeps for a moment, so that another thread can enter where that is possible.
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <mutex>
#include <thread>

inline int slow_unlock(pthread_mutex_t* mutex) {
  const int status = pthread_mutex_unlock(mutex);
  usleep(20);
  return status;
}
#define pthread_mutex_unlock slow_unlock
