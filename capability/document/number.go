package document

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

func (d *decoder) duration(n *Node, v reflect.Value) {
	const do = `write a number with its unit, such as "30s", "1m30s" or "500ms"`
	if n.Kind != Scalar || n.class == boolean {
		d.want(n, "a length of time", do)
		return
	}
	if n.class != text {
		d.fail(n, "the length of time "+Quote(n.text)+" has no unit", do)
		return
	}
	length, err := time.ParseDuration(n.text)
	if err != nil {
		d.want(n, "a length of time", do)
		return
	}
	v.SetInt(int64(length))
}

func (d *decoder) number(n *Node, v reflect.Value) {
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		d.float(n, v)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		d.integer(n, v)
	default:
		panic("document: cannot decode into " + v.Type().String())
	}
}

func (d *decoder) integer(n *Node, v reflect.Value) {
	if n.Kind != Scalar || n.class != integer {
		d.want(n, "a whole number", "write digits, without quotes")
		return
	}
	digits := plainDigits(n.text)
	var err error
	if v.CanInt() {
		var x int64
		if x, err = strconv.ParseInt(digits, 0, v.Type().Bits()); err == nil {
			v.SetInt(x)
		}
	} else {
		var x uint64
		if x, err = strconv.ParseUint(digits, 0, v.Type().Bits()); err == nil {
			v.SetUint(x)
		}
	}
	if err != nil {
		d.fail(n, "the number "+Quote(n.text)+" is out of range", fmt.Sprintf("write one that fits %s", v.Type().Kind()))
	}
}

func (d *decoder) float(n *Node, v reflect.Value) {
	if n.Kind != Scalar || n.class != float && n.class != integer {
		d.want(n, "a number", "write digits, without quotes")
		return
	}
	x, err := strconv.ParseFloat(plainDigits(n.text), v.Type().Bits())
	if err != nil && n.class == integer {
		var whole int64 // 0x10, 0o17
		whole, err = strconv.ParseInt(plainDigits(n.text), 0, 64)
		x = float64(whole)
	}
	if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
		d.fail(n, "the number "+Quote(n.text)+" is out of range", "write an ordinary decimal number")
		return
	}
	v.SetFloat(x)
}

// plainDigits removes the digit separators and the plus sign that YAML allows.
func plainDigits(s string) string {
	return strings.TrimPrefix(strings.ReplaceAll(s, "_", ""), "+")
}
