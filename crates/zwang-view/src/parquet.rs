//! A motion as an Apache Parquet file: one row group, float64 columns, Snappy.

use std::sync::Arc;

use ::parquet::basic::{Compression, Encoding, Repetition, Type as Physical};
use ::parquet::data_type::DoubleType;
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::Type;
use serde_json::{Map, Value};
use zwang::Samples;

/// The file, with three texts in addition to the numbers.
///
/// The file's key-value metadata contain `units` and `labels`, each a JSON object from column name to text, and, under
/// `zwang`, the `record` of the run as JSON. Fails if the columns differ in length.
pub fn parquet(samples: &Samples, record: &str) -> Result<Vec<u8>, String> {
    write(samples, record).map_err(|error| format!("the motion cannot be written as Parquet: {error}"))
}

fn write(samples: &Samples, record: &str) -> Result<Vec<u8>, ParquetError> {
    let properties = Arc::new(properties(samples, record));
    let mut writer = SerializedFileWriter::new(Vec::new(), schema(samples)?, properties)?;
    let mut group = writer.next_row_group()?;
    for column in &samples.columns {
        let Some(mut target) = group.next_column()? else { break };
        target.typed::<DoubleType>().write_batch(&column.values, None, None)?;
        target.close()?;
    }
    group.close()?;
    writer.into_inner()
}

/// `message motion { required double t; … }`.
fn schema(samples: &Samples) -> Result<Arc<Type>, ParquetError> {
    let mut fields = Vec::new();
    for column in &samples.columns {
        let field = Type::primitive_type_builder(&column.name, Physical::DOUBLE);
        fields.push(Arc::new(field.with_repetition(Repetition::REQUIRED).build()?));
    }
    Ok(Arc::new(Type::group_type_builder("motion").with_fields(fields).build()?))
}

/// Without a dictionary, because the numbers of a motion seldom repeat.
fn properties(samples: &Samples, record: &str) -> WriterProperties {
    let object = |text: fn(&zwang::Column) -> &String| {
        let pairs = samples.columns.iter().map(|c| (c.name.clone(), Value::String(text(c).clone())));
        Value::Object(pairs.collect::<Map<_, _>>()).to_string()
    };
    let texts = [("zwang", record.to_string()), ("units", object(|c| &c.unit)), ("labels", object(|c| &c.label))];
    let metadata = texts.map(|(key, text)| KeyValue::new(key.to_string(), text)).to_vec();
    WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::PLAIN)
        .set_created_by(format!("zwang {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(metadata))
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    use zwang::Column;

    fn example(n: usize) -> Samples {
        let column = |name: &str, label: &str, unit: &str, f: fn(f64) -> f64| Column {
            name: name.into(),
            label: label.into(),
            unit: unit.into(),
            values: (0..n).map(|k| f(k as f64 * 0.01)).collect(),
        };
        let columns = vec![
            column("t", "t", "s", |t| t),
            column("theta_dot", "θ'", "1/s", f64::sin),
            column("E", "E", "J", |t| if t > 1.0 { f64::NAN } else { 1.0 / 3.0 }),
        ];
        Samples { columns }
    }

    fn read(bytes: Vec<u8>) -> SerializedFileReader<bytes::Bytes> {
        SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap()
    }

    #[test]
    fn values_come_back_exactly() {
        for n in [0, 1, 5000] {
            let samples = example(n);
            let reader = read(parquet(&samples, "{}").unwrap());
            assert_eq!(reader.metadata().file_metadata().num_rows(), n as i64);
            let group = reader.get_row_group(0).unwrap();
            for (k, column) in samples.columns.iter().enumerate() {
                let mut values = Vec::new();
                let mut column_reader = ::parquet::column::reader::get_typed_column_reader::<DoubleType>(
                    group.get_column_reader(k).unwrap(),
                );
                column_reader.read_records(n.max(1), None, None, &mut values).unwrap();
                let bits = |v: &[f64]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&values), bits(&column.values), "{}", column.name);
            }
        }
    }

    #[test]
    fn metadata_come_back() {
        let reader = read(parquet(&example(3), r#"{"model":"pendulum"}"#).unwrap());
        let file = reader.metadata().file_metadata();
        let value = |key: &str| {
            let pairs = file.key_value_metadata().unwrap();
            pairs.iter().find(|p| p.key == key).and_then(|p| p.value.clone()).unwrap()
        };
        assert_eq!(value("zwang"), r#"{"model":"pendulum"}"#);
        assert_eq!(value("units"), r#"{"t":"s","theta_dot":"1/s","E":"J"}"#);
        assert_eq!(value("labels"), r#"{"t":"t","theta_dot":"θ'","E":"E"}"#);
        let names: Vec<&str> = file.schema_descr().columns().iter().map(|c| c.name()).collect();
        assert_eq!(names, ["t", "theta_dot", "E"]);
    }

    #[test]
    fn uneven_columns_are_refused() {
        let mut samples = example(3);
        samples.columns[2].values.pop();
        assert!(parquet(&samples, "{}").is_err());
    }
}
