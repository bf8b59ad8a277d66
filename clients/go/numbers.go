package keelson

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"keelson/wire"
)

// Number is one number of an answer, as the signed release states it.
type Number struct {
	// Name says what it is in short words, the same as `keelson verify` prints.
	Name string
	// Value is meaningless where HasAnswer is false: its group has no answer.
	Value     float64
	HasAnswer bool
	// Low and High are the ends of the 95 % interval, of the one that also holds if the stated share
	// of the rows is false where the release has that. They are infinite where nothing is known on a
	// side, and NaN where there is no interval.
	Low, High float64
	// Unit is empty where none is known.
	Unit string
	// Least and Most are what is possible without noise, which may lead beyond; infinite: any value.
	Least, Most float64
	// Kind is "mean", "count", "quantile" and so on; a newer server may know more.
	Kind string
	// Column is the column that it is about; empty: none.
	Column string
	// Group has a part for each column that the answer is split by; nil for one that is not.
	Group []string
}

// Answer is the answer to one question of a release.
type Answer struct {
	// Question is its name; "answer" where a study asks one.
	Question string
	// Refusal says why there is no answer; empty where there is one.
	Refusal string
	Numbers []Number
}

// VerifyRelease checks that a server signed the body of a release for a study, and gives what it
// answers. It does not check that no release is missing: for that, run `keelson verify` on the log.
func VerifyRelease(serverKey, studyID, body, signature []byte) (answers []Answer, err error) {
	err = catch(func() {
		checkKey(serverKey)
		require(len(studyID) == 32, "invalid-options", "a study id has 32 bytes")
		verify(serverKey, SignedMessage("release", serverKey, studyID, nil, digest(body)), signature)
		release := decodeRelease(body)
		isOfStudy := string(release.StudyId) == string(studyID)
		require(isOfStudy, "log-invalid", "the release is of another study")
		isOfServer := string(release.ServerKey) == string(serverKey)
		require(isOfServer, "log-invalid", "the release names another server")
		answers = answersOf(release)
	})
	return answers, err
}

func decodeRelease(body []byte) *wire.ReleaseBody {
	release := &wire.ReleaseBody{}
	err := proto.Unmarshal(body, release)
	require(err == nil, "malformed", "a release cannot be read: %v", err)
	check(release.ProtoReflect())
	isOne := len(release.Answers) == 0
	require((release.Outcome != nil) == isOne, "malformed", "a release has one answer or a list")
	return release
}

func answersOf(release *wire.ReleaseBody) []Answer {
	texts := append(append([]string{}, release.Columns...), release.Texts...)
	if len(release.Answers) == 0 {
		return []Answer{answerOf("answer", release.Outcome, texts)}
	}
	var answers []Answer
	for _, one := range release.Answers {
		answers = append(answers, answerOf(one.Question, one.Outcome, texts))
	}
	return answers
}

func answerOf(question string, outcome *wire.Outcome, texts []string) Answer {
	value := outcome.GetValue()
	if value == nil {
		refused := outcome.GetRefused()
		require(refused != nil, "malformed", "an answer has no kind")
		return Answer{Question: question, Refusal: refused.Reason}
	}
	return Answer{Question: question, Numbers: numbersOf(value, texts)}
}

func numbersOf(value *wire.Value, texts []string) []Number {
	groups := groupsOf(value)
	entries := len(value.Estimate) / max(1, len(groups))
	isWhole := len(value.Estimate) == entries*max(1, len(groups))
	require(isWhole, "malformed", "the numbers are not split by the groups")
	stated := statedBy(value.Numbers, entries, texts)
	names := namesOf(stated)
	low, high := value.IntervalIfFalseLow, value.IntervalIfFalseHigh
	if len(low) == 0 {
		low, high = value.IntervalLow, value.IntervalHigh
	}
	hasIntervals := len(low) == len(value.Estimate) && len(high) == len(value.Estimate)
	numbers := make([]Number, len(value.Estimate))
	for at, estimate := range value.Estimate {
		place, facts := at/entries, stated[at%entries]
		number := Number{
			Name: names[at%entries], Value: estimate, HasAnswer: true, Kind: facts.texts["kind"],
			Column: facts.texts["column"], Unit: facts.texts["unit"], Low: math.NaN(),
			High: math.NaN(), Least: math.Inf(-1), Most: math.Inf(1),
		}
		if least, has := facts.values["least"]; has {
			number.Least = least
		}
		if most, has := facts.values["most"]; has {
			number.Most = most
		}
		if len(groups) > 0 {
			number.Group = groups[place]
			number.HasAnswer = len(value.Answered) <= place/8 ||
				value.Answered[place/8]>>(place%8)&1 == 1
		}
		if hasIntervals && number.HasAnswer {
			number.Low, number.High = low[at], high[at]
		}
		numbers[at] = number
	}
	return numbers
}

func max(one, other int) int {
	if one > other {
		return one
	}
	return other
}

func groupsOf(value *wire.Value) [][]string {
	if len(value.Groups) == 0 {
		return nil
	}
	count := 0
	if len(value.Shape) > 0 {
		count = int(value.Shape[0])
	}
	isSplit := count > 0 && len(value.Groups)%count == 0
	require(isSplit, "malformed", "the groups are not the first axis")
	size := len(value.Groups) / count
	groups := make([][]string, count)
	for i := range groups {
		groups[i] = value.Groups[i*size : (i+1)*size]
	}
	return groups
}

// The facts that a release states of one number; others are absent.
type statement struct {
	texts  map[string]string
	values map[string]float64
	wholes map[string]int
}

var textFields = []string{"kind", "column", "other", "third", "fourth", "unit", "text"}
var valueFields = []string{"least", "most", "start", "end", "probability"}
var wholeFields = []string{"place", "of", "flag"}

// Section 7 of the protocol: runs of places in the texts, or in the values.
func statedBy(numbers *wire.Numbers, entries int, texts []string) []statement {
	found := make([]statement, entries)
	for i := range found {
		found[i] = statement{map[string]string{}, map[string]float64{}, map[string]int{}}
	}
	values := numbers.GetValues()
	for _, value := range values {
		isFinite := !math.IsInf(value, 0) && !math.IsNaN(value)
		require(isFinite, "malformed", "a value of a description is not finite")
	}
	if numbers != nil {
		take := func(fields []string, most int, put func(one statement, field string, place int)) {
			for _, field := range fields {
				for i, place := range placesIn(numbers, field, entries, most) {
					if place > 0 {
						put(found[i], field, place)
					}
				}
			}
		}
		take(textFields, len(texts), func(one statement, field string, place int) {
			one.texts[field] = texts[place-1]
		})
		take(valueFields, len(values), func(one statement, field string, place int) {
			one.values[field] = values[place-1]
		})
		take(wholeFields, math.MaxInt, func(one statement, field string, place int) {
			one.wholes[field] = place
		})
	}
	for i := range found {
		if numbers == nil {
			// The server was of a version before the description.
			found[i].texts["kind"] = "other"
		}
		_, has := found[i].texts["kind"]
		require(has, "malformed", "number %d is not described", i+1)
	}
	return found
}

func placesIn(numbers *wire.Numbers, field string, length, most int) []int {
	message := numbers.ProtoReflect()
	runs := message.Get(message.Descriptor().Fields().ByName(protoreflect.Name(field))).List()
	var places []int
	require(runs.Len()%2 == 0, "malformed", "the runs of %s are not whole", field)
	for run := 0; run < runs.Len(); run += 2 {
		first, code := int(runs.Get(run).Uint()), int(runs.Get(run+1).Uint())
		count, step := code/2, code%2
		isRun := count > 0 && count <= length-len(places)
		require(isRun, "malformed", "the runs of %s are not %d numbers", field, length)
		last := first + step*(count-1)
		isThere := last <= most && (first > 0 || step == 0)
		require(isThere, "malformed", "%s is stated at place %d, where nothing is", field, last)
		for i := 0; i < count; i++ {
			places = append(places, first+step*i)
		}
	}
	isWhole := runs.Len() == 0 || len(places) == length
	require(isWhole, "malformed", "the runs of %s are not %d numbers", field, length)
	return places
}

func namesOf(stated []statement) []string {
	columns, onlyMeans := map[string]bool{}, true
	for _, one := range stated {
		if column, has := one.texts["column"]; has {
			columns[column] = true
		}
		onlyMeans = onlyMeans && one.texts["kind"] == "mean"
	}
	names := make([]string, len(stated))
	for i, one := range stated {
		names[i] = nameOfNumber(one, onlyMeans, len(columns) <= 1)
		if names[i] == "" {
			names[i] = fmt.Sprintf("number %d of %d", i+1, len(stated))
		}
	}
	return names
}

// Kinds whose name is of one form. A number that lacks a part of it has another name.
var forms = map[string]string{
	"groups": "distinct groups", "rank": "rank", "choice": "place in the list, from 0",
	"bin-start": "{column}, bin {place} from", "ratio": "{column} per {other}",
	"median": "{column}", "deviation": "deviation {place}", "weight": "weight {place}",
	"projector": "projector {column}, {other}",
}

// Empty where nothing says what the number is.
func nameOfNumber(one statement, onlyMeans, isOfOne bool) string {
	kind, column := one.texts["kind"], one.texts["column"]
	place, hasPlace := one.wholes["place"]
	other, hasOther := one.texts["other"]
	third, hasThird := one.texts["third"]
	start, hasStart := one.values["start"]
	end, hasEnd := one.values["end"]
	probability, hasProbability := one.values["probability"]
	switch {
	case kind == "count" && !hasStart && !hasEnd:
		return "contributors"
	case kind == "count":
		if column == "" {
			column = "value"
		}
		return sideName(one, column)
	case kind == "share" && (hasStart || hasEnd):
		return "share with " + sideName(one, column)
	case kind == "below" && !hasEnd:
		return "contributors"
	case kind == "below":
		return "contributors below " + textOf(end)
	case kind == "total" && hasStart && hasEnd:
		found := ""
		if one.wholes["flag"] == 1 {
			found = "a found cap, at most "
		}
		return fmt.Sprintf("total of %s, each %s to %s%s", column, textOf(start), found, textOf(end))
	case kind == "total":
		return "total of " + column
	case kind == "mean" && !hasPlace && onlyMeans:
		return column
	case kind == "mean" && !hasPlace:
		return "mean " + column
	case kind == "mean" && isOfOne:
		return fmt.Sprintf("mean %d", place)
	case kind == "mean":
		return fmt.Sprintf("mean %d of %s", place, column)
	case kind == "variance" || (kind == "covariance" && hasOther):
		if kind == "variance" {
			other = column
		}
		if hasPlace {
			return fmt.Sprintf("covariance %d of %s, %s", place, column, other)
		}
		return column + ", " + other
	case kind == "bin":
		return binName(one, column)
	case kind == "moment" && hasThird:
		if fourth, has := one.texts["fourth"]; has {
			return "fourth moment of " + strings.Join([]string{column, other, third, fourth}, ", ")
		}
		return "third moment of " + strings.Join([]string{column, other, third}, ", ")
	case kind == "quantile" && column != "" && hasProbability:
		return quantileName(probability) + " of " + column
	case kind == "skewness" || kind == "excess-kurtosis":
		if column == "" {
			return fmt.Sprintf("%s along direction %d", strings.Replace(kind, "-", " ", 1), place)
		}
		return strings.Replace(kind, "-", " ", 1) + " of " + column
	}
	return simpleName(one, column)
}

var member = regexp.MustCompile(`{(\w+)}`)

func simpleName(one statement, column string) string {
	place, hasPlace := one.wholes["place"]
	of, hasOf := one.wholes["of"]
	isPlaced := one.texts["kind"] == "other" && hasPlace && hasOf
	if form, has := forms[one.texts["kind"]]; has {
		isWhole := true
		name := member.ReplaceAllStringFunc(form, func(found string) string {
			part := found[1 : len(found)-1]
			if text, has := one.texts[part]; has {
				return text
			}
			if value, has := one.values[part]; has {
				return textOf(value)
			}
			whole, has := one.wholes[part]
			isWhole = isWhole && has
			return strconv.Itoa(whole)
		})
		if isWhole {
			return name
		}
	}
	text, hasText := one.texts["text"]
	switch {
	case isPlaced && hasText && column != "":
		return text + " of " + column
	case isPlaced && hasText:
		return fmt.Sprintf("%s %d", text, place)
	case column != "":
		return column
	case isPlaced:
		return fmt.Sprintf("number %d of %d", place, of)
	}
	return ""
}

var lastDigit = regexp.MustCompile(`^(?:\d*[02-9])?([123])$`)

// "median", "25th percentile" or "99.9th percentile".
func quantileName(probability float64) string {
	if probability == 0.5 {
		return "median"
	}
	value, _ := strconv.ParseFloat(strconv.FormatFloat(100*probability, 'g', 12, 64), 64)
	percent, ending := textOf(value), "th"
	if last := lastDigit.FindStringSubmatch(percent); last != nil {
		ending = map[string]string{"1": "st", "2": "nd", "3": "rd"}[last[1]]
	}
	return percent + ending + " percentile"
}

func sideName(one statement, column string) string {
	if end, has := one.values["end"]; has {
		return column + " below " + textOf(end)
	}
	return column + " at least " + textOf(one.values["start"])
}

func binName(one statement, column string) string {
	start, hasStart := one.values["start"]
	end, hasEnd := one.values["end"]
	text, hasText := one.texts["text"]
	place, hasPlace := one.wholes["place"]
	switch {
	case hasText:
		return text
	case hasPlace:
		return fmt.Sprintf("%s, bin %d count", column, place)
	case hasStart && hasEnd:
		return column + " " + textOf(start) + " to " + textOf(end)
	case hasStart:
		return column + " from " + textOf(start)
	}
	return column + " below " + textOf(end)
}

var exponent = regexp.MustCompile(`e([+-])0*`)

// A number as JSON and the command write it.
func textOf(value float64) string {
	size := math.Abs(value)
	if size != 0 && (size < 1e-6 || size >= 1e21) {
		return exponent.ReplaceAllString(strconv.FormatFloat(value, 'e', -1, 64), "e$1")
	}
	return strconv.FormatFloat(value, 'f', -1, 64)
}
