! The loops of the benchmark in Fortran, for one thread; the sum of squares in 64 bits.
module himeno_fortran
  use, intrinsic :: iso_c_binding, only: c_double, c_float, c_int64_t
  implicit none
  private
  real(c_float), parameter :: omega = 0.8_c_float

contains

  ! One sweep over ni x nj x nk inner points from p to next, whose walls have the numbers 0 and n + 1. In memory a row has `row` numbers
  ! of a coefficient and `row_p` of p. Returns the sum of ss**2.
  function himeno_fortran_sweep(ni, nj, nk, row, row_p, a0, a1, a2, a3, b0, b1, b2, c0, c1, c2, bnd, wrk1, p, next) &
    result(gosa) bind(c)
    integer(c_int64_t), value :: ni, nj, nk, row, row_p
    real(c_float), intent(in), dimension(row, nj, ni) :: a0, a1, a2, a3, b0, b1, b2, c0, c1, c2, bnd, wrk1
    real(c_float), intent(in) :: p(0:row_p - 1, 0:nj + 1, 0:ni + 1)
    real(c_float), intent(inout) :: next(0:row_p - 1, 0:nj + 1, 0:ni + 1)
    real(c_double) :: gosa
    real(c_float) :: s0, ss
    integer(c_int64_t) :: i, j, k

    gosa = 0
    do i = 1, ni
      do j = 1, nj
        do k = 1, nk
          s0 = a0(k, j, i) * p(k, j, i + 1) + a1(k, j, i) * p(k, j + 1, i) + a2(k, j, i) * p(k + 1, j, i) &
            + b0(k, j, i) * (p(k, j + 1, i + 1) - p(k, j - 1, i + 1) - p(k, j + 1, i - 1) + p(k, j - 1, i - 1)) &
            + b1(k, j, i) * (p(k + 1, j + 1, i) - p(k + 1, j - 1, i) - p(k - 1, j + 1, i) + p(k - 1, j - 1, i)) &
            + b2(k, j, i) * (p(k + 1, j, i + 1) - p(k + 1, j, i - 1) - p(k - 1, j, i + 1) + p(k - 1, j, i - 1)) &
            + c0(k, j, i) * p(k, j, i - 1) + c1(k, j, i) * p(k, j - 1, i) + c2(k, j, i) * p(k - 1, j, i) + wrk1(k, j, i)
          ss = (s0 * a3(k, j, i) - p(k, j, i)) * bnd(k, j, i)
          gosa = gosa + real(ss, c_double)**2
          next(k, j, i) = p(k, j, i) + omega * ss
        end do
      end do
    end do
  end function

end module
