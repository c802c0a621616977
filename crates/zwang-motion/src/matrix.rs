//! Sparse matrices of fixed pattern and changing values.

/// A matrix in compressed sparse rows.
///
/// Row `i` holds the columns `col[row_start[i]..row_start[i + 1]]`, in increasing order. A symmetric matrix is stored
/// in full, both triangles. An entry outside the pattern is zero; an entry inside may be zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    /// Number of rows.
    pub n_rows: usize,
    /// Number of columns.
    pub n_cols: usize,
    /// Start of each row in `col` and `value`; one more entry than there are rows.
    pub row_start: Vec<usize>,
    /// Columns of the stored entries, row after row.
    pub col: Vec<usize>,
    /// Values of the stored entries, row after row.
    pub value: Vec<f64>,
}

impl Matrix {
    /// A matrix of zeros with the columns of each row given; they are sorted, repeats merged.
    ///
    /// Panics if there are not `n_rows` rows or a column is not below `n_cols`.
    pub fn from_pattern(n_rows: usize, n_cols: usize, rows: &[Vec<usize>]) -> Matrix {
        assert_eq!(rows.len(), n_rows, "one list of columns per row");
        let mut row_start = Vec::with_capacity(n_rows + 1);
        let mut col = Vec::new();
        row_start.push(0);
        for row in rows {
            let first = col.len();
            col.extend_from_slice(row);
            col[first..].sort_unstable();
            let mut end = first;
            for k in first..col.len() {
                assert!(col[k] < n_cols, "column {} of {n_cols}", col[k]);
                if end == first || col[end - 1] != col[k] {
                    col[end] = col[k];
                    end += 1;
                }
            }
            col.truncate(end);
            row_start.push(end);
        }
        let value = vec![0.0; col.len()];
        Matrix { n_rows, n_cols, row_start, col, value }
    }

    /// The matrix with these entries, row after row; exact zeros are left out of the pattern.
    ///
    /// Panics if there are not `n_rows * n_cols` entries.
    pub fn from_dense(n_rows: usize, n_cols: usize, entries: &[f64]) -> Matrix {
        assert_eq!(entries.len(), n_rows * n_cols, "{n_rows} x {n_cols} entries");
        let mut matrix = Matrix { n_rows, n_cols, row_start: vec![0], col: Vec::new(), value: Vec::new() };
        for i in 0..n_rows {
            for j in 0..n_cols {
                let x = entries[i * n_cols + j];
                if x != 0.0 {
                    matrix.col.push(j);
                    matrix.value.push(x);
                }
            }
            matrix.row_start.push(matrix.col.len());
        }
        matrix
    }

    /// The identity of size n.
    pub fn identity(n: usize) -> Matrix {
        Matrix { n_rows: n, n_cols: n, row_start: (0..=n).collect(), col: (0..n).collect(), value: vec![1.0; n] }
    }

    /// All entries, row after row.
    pub fn to_dense(&self) -> Vec<f64> {
        let mut entries = vec![0.0; self.n_rows * self.n_cols];
        self.write_dense(&mut entries);
        entries
    }

    /// Writes all entries, row after row, into a slice that is large enough.
    pub fn write_dense(&self, entries: &mut [f64]) {
        entries.fill(0.0);
        for i in 0..self.n_rows {
            let (col, value) = self.row(i);
            for (&j, &x) in col.iter().zip(value) {
                entries[i * self.n_cols + j] = x;
            }
        }
    }

    /// Adds all entries to a slice that holds the rows of a dense matrix of this size.
    pub(crate) fn add_dense(&self, entries: &mut [f64]) {
        for i in 0..self.n_rows {
            let (col, value) = self.row(i);
            for (&j, &x) in col.iter().zip(value) {
                entries[i * self.n_cols + j] += x;
            }
        }
    }

    /// The entry at (i, j), zero outside the pattern.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        let (col, value) = self.row(i);
        col.binary_search(&j).map_or(0.0, |k| value[k])
    }

    /// Columns and values of row i.
    pub fn row(&self, i: usize) -> (&[usize], &[f64]) {
        let place = self.row_start[i]..self.row_start[i + 1];
        (&self.col[place.clone()], &self.value[place])
    }

    /// The matrix of the given rows, in the given order.
    pub fn rows(&self, which: &[usize]) -> Matrix {
        let (mut row_start, mut col, mut value) = (vec![0], Vec::new(), Vec::new());
        for &i in which {
            col.extend_from_slice(self.row(i).0);
            value.extend_from_slice(self.row(i).1);
            row_start.push(col.len());
        }
        Matrix { n_rows: which.len(), n_cols: self.n_cols, row_start, col, value }
    }

    /// Columns of row i, and its values to write to.
    pub fn row_mut(&mut self, i: usize) -> (&[usize], &mut [f64]) {
        let place = self.row_start[i]..self.row_start[i + 1];
        (&self.col[place.clone()], &mut self.value[place])
    }

    /// Number of stored entries.
    pub fn n_stored(&self) -> usize {
        self.col.len()
    }

    /// y = A x.
    pub fn multiply(&self, x: &[f64], y: &mut [f64]) {
        for (i, y) in y.iter_mut().enumerate().take(self.n_rows) {
            *y = self.row_times(i, x);
        }
    }

    /// y = Aᵀ x.
    pub fn multiply_transposed(&self, x: &[f64], y: &mut [f64]) {
        y[..self.n_cols].fill(0.0);
        for (i, &x) in x.iter().enumerate().take(self.n_rows) {
            let (col, value) = self.row(i);
            for (&j, &entry) in col.iter().zip(value) {
                y[j] += entry * x;
            }
        }
    }

    /// Σ |Aᵢⱼ| sizeⱼ: the size of row i if column j has the given size.
    pub(crate) fn row_size(&self, i: usize, sizes: &[f64]) -> f64 {
        let (col, value) = self.row(i);
        col.iter().zip(value).map(|(&j, a)| a.abs() * sizes[j]).sum()
    }

    /// Row i times x.
    pub fn row_times(&self, i: usize, x: &[f64]) -> f64 {
        let (col, value) = self.row(i);
        col.iter().zip(value).map(|(&j, &entry)| entry * x[j]).sum()
    }

    /// The transposed matrix.
    pub fn transpose(&self) -> Matrix {
        let mut row_start = vec![0; self.n_cols + 1];
        for &j in &self.col {
            row_start[j + 1] += 1;
        }
        for j in 0..self.n_cols {
            row_start[j + 1] += row_start[j];
        }
        let mut next = row_start.clone();
        let (mut col, mut value) = (vec![0; self.col.len()], vec![0.0; self.col.len()]);
        for i in 0..self.n_rows {
            let (cols, values) = self.row(i);
            for (&j, &entry) in cols.iter().zip(values) {
                col[next[j]] = i;
                value[next[j]] = entry;
                next[j] += 1;
            }
        }
        Matrix { n_rows: self.n_cols, n_cols: self.n_rows, row_start, col, value }
    }

    /// The first entry that is not finite, as (row, column).
    pub fn not_finite(&self) -> Option<(usize, usize)> {
        let k = self.value.iter().position(|x| !x.is_finite())?;
        let i = self.row_start.partition_point(|&start| start <= k) - 1;
        Some((i, self.col[k]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_and_back_keeps_every_entry() {
        let entries = [1.0, 0.0, 2.0, 0.0, 0.0, 3.0];
        let A = Matrix::from_dense(2, 3, &entries);
        assert_eq!(A.n_stored(), 3);
        assert_eq!(A.to_dense(), entries);
        assert_eq!(A.transpose().transpose(), A);
        assert_eq!(A.get(1, 2), 3.0);
        assert_eq!(A.get(1, 0), 0.0);
    }

    #[test]
    fn pattern_is_sorted_and_merged() {
        let A = Matrix::from_pattern(2, 4, &[vec![3, 1, 3], vec![]]);
        assert_eq!(A.row(0).0, [1, 3]);
        assert_eq!(A.row(1).0, [] as [usize; 0]);
    }

    #[test]
    fn place_of_a_nan_is_found() {
        let mut A = Matrix::from_pattern(3, 2, &[vec![0], vec![], vec![0, 1]]);
        A.value[2] = f64::NAN;
        assert_eq!(A.not_finite(), Some((2, 1)));
    }
}
