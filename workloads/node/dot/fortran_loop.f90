! The loop as everybody writes it, in Fortran.
function dot_fortran(x, y, n) result(total) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  integer(c_int64_t), value :: n
  real(c_double), intent(in) :: x(n), y(n)
  real(c_double) :: total
  integer(c_int64_t) :: i

  total = 0
  do i = 1, n
    total = total + x(i) * y(i)
  end do
end function
