! The intrinsic.
function dot_fortran(x, y, n) result(total) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  integer(c_int64_t), value :: n
  real(c_double), intent(in) :: x(n), y(n)
  real(c_double) :: total

  total = dot_product(x, y)
end function
