// OpenMP's functions, which code for the host calls. It is parsed, and nothing is generated from it.
#pragma once

extern "C" {
typedef struct {
  void *lock;
} omp_lock_t;
typedef struct {
  void *lock;
} omp_nest_lock_t;
typedef enum omp_sched_t { omp_sched_static = 1, omp_sched_dynamic, omp_sched_guided, omp_sched_auto } omp_sched_t;
typedef enum omp_proc_bind_t {
  omp_proc_bind_false, omp_proc_bind_true, omp_proc_bind_primary, omp_proc_bind_master = 2, omp_proc_bind_close,
  omp_proc_bind_spread
} omp_proc_bind_t;
void omp_set_num_threads(int);
void omp_set_dynamic(int);
void omp_set_nested(int);
void omp_set_max_active_levels(int);
void omp_set_schedule(omp_sched_t, int);
void omp_get_schedule(omp_sched_t *, int *);
void omp_set_default_device(int);
int omp_get_num_threads(), omp_get_max_threads(), omp_get_thread_num(), omp_get_num_procs(), omp_in_parallel(), omp_get_dynamic(),
    omp_get_nested(), omp_get_thread_limit(), omp_get_max_active_levels(), omp_get_level(), omp_get_active_level(),
    omp_get_default_device(), omp_get_num_devices(), omp_get_initial_device(), omp_is_initial_device(), omp_get_num_teams(),
    omp_get_team_num(), omp_get_num_places();
int omp_get_ancestor_thread_num(int), omp_get_team_size(int);
omp_proc_bind_t omp_get_proc_bind();
double omp_get_wtime(), omp_get_wtick();
void omp_init_lock(omp_lock_t *), omp_destroy_lock(omp_lock_t *), omp_set_lock(omp_lock_t *), omp_unset_lock(omp_lock_t *);
int omp_test_lock(omp_lock_t *);
void omp_init_nest_lock(omp_nest_lock_t *), omp_destroy_nest_lock(omp_nest_lock_t *), omp_set_nest_lock(omp_nest_lock_t *),
    omp_unset_nest_lock(omp_nest_lock_t *);
int omp_test_nest_lock(omp_nest_lock_t *);
}
