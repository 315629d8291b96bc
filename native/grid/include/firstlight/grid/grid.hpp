// Blocks of a grid of cells over ranks, fields with halos on them, and the exchange that fills the halos. One to four dimensions, any
// number of ranks, periodic or not in each dimension; extents need not divide.
//
//   namespace grid = fl::grid;
//   const grid::Domain<3> domain{.extents = {nx, ny, nz}, .periodic = {true, true, false}, .halo = {1, 1, 1}};
//   if (auto why = grid::refuse(domain, team.ranks); !why.empty()) return why;       // in refuse()
//   const grid::Block<3> block(domain, team.ranks, team.rank);                      // least surface, unless .processes is set
//   grid::Field<double, 3> u(block.size(), domain.halo), v(block.size(), domain.halo);
//
// Local coordinates begin at 0 at a block's first own cell; -halo ... -1 and size ... size + halo - 1 are halo cells. Inputs are functions
// of the place in the whole domain, whatever the cut:
//
//   grid::each_cell(block.cells(), [&](const grid::Point<3>& p) { u[p] = fl::uniform(block.number(block.global(p))); });
//
// A variant chooses how halos are exchanged: which neighbours (Reach: faces, edges, corners), all at once or by dimension (Order), over
// which transport: firstlight/grid/mpi.hpp, where grid::Mpi{.requests = grid::Mpi::Requests::persistent} makes requests once,
// mpi_put.hpp (puts into windows), mpi_shared.hpp (shared windows within a node), mpi_by.hpp (one of these, by a parameter: way.hpp), or
// one_process.hpp, which needs no MPI.
//
//   grid::Exchange<3, grid::Mpi> halo;                                               // opened before the steps, closed after them
//   halo.open(block, {.reach = grid::Reach::faces}, grid::Mpi{}, u, v);              // all fields to a neighbour in one message
//   halo();                                                                          // blocking, or
//   halo.start();  compute(split.inner);  halo.finish();  for (box : split.rim) compute(box);     // split = grid::split(block, radius)
//
// Long rows cost a processor a page for each: grid::Field<double, 3> u(size, halo, grid::cache_line, 512) cuts them into strips of about 512
// columns that are together. u[p], exchanges and marks know of them; kernels go strip by strip: u.layout().each_strip(box, ...), whose cells
// stand n * u.layout().jump elements behind those of u.view(), with halo columns of their own that u.join() fills.
//
// Kernels take views: u.view()(i, j, k), and &u.view()(i, j, 0) is a row; the last dimension is contiguous and aligned. Halo cells beyond
// an open end are never written: they belong to the boundary condition.
//
// Threads: halo(grid::OpenMp{threads}) packs and unpacks with a team; inside a parallel region use Exchange's parts. share_of(box, thread,
// threads) cuts what a thread computes, first_touch(field, thread, threads) places pages by the same cut; of an inner or a rim box a thread
// takes the intersection with its share of block.cells(). Devices: copy.hpp has the bodies of packing, a View goes to kernels by value.
//
// Tests and checks: put_marks(), inspect() in marks.hpp.
#pragma once

#include "firstlight/grid/blocks.hpp"
#include "firstlight/grid/box.hpp"
#include "firstlight/grid/copy.hpp"
#include "firstlight/grid/exchange.hpp"
#include "firstlight/grid/field.hpp"
#include "firstlight/grid/marks.hpp"
#include "firstlight/grid/parcel.hpp"
#include "firstlight/grid/plan.hpp"
#include "firstlight/grid/team.hpp"
